// SPDX-License-Identifier: Apache-2.0

import iDownBus

/// Waits until the files of edited downloads are in their new places.
///
/// The service answers an edit as soon as it has recorded where an unfinished file is to go.
struct MoveWatch {
    private let client: ManagerClient
    private let news: ListNewsSequence

    /// Begins to follow the news, before the edits, so that no end of a move is missed.
    init(_ client: ManagerClient) async throws(ManagerError) {
        self.client = client
        news = try await client.newsFromNow()
    }

    /// Returns once no file moves any more.
    ///
    /// - Parameters:
    ///   - tasks: The downloads as they were before the edit.
    ///   - values: The edit, with an absolute folder.
    /// - Returns: The downloads whose files could not be moved, as they were then.
    /// - Throws: An error that says that the service cannot be reached any more.
    func failures(
        of tasks: [TaskProperties],
        towards values: AddOptions
    ) async throws(ManagerError) -> [TaskProperties] {
        let ends = try await ends(of: tasks)
        let folder = values.directory.map { Disk.resolved($0) ?? $0 }
        return tasks.compactMap { before in
            guard let now = ends[before.id], now.directory == before.directory,
                now.fileName == before.fileName,
                FailureGroup(errorCode: now.errorCode) == .file
            else { return nil }
            // Nothing moves to where it is, and the error is an older one.
            let isThere =
                (folder ?? before.directory) == before.directory
                && (values.filename ?? before.fileName) == before.fileName
            return isThere ? nil : now
        }
    }

    /// Returns the tasks as they were when their files moved no more; without those that were
    /// removed.
    private func ends(of tasks: [TaskProperties]) async throws(ManagerError)
        -> [String: TaskProperties]
    {
        var list = LiveList()
        try await CallsAtOnce.make(about: tasks.map(\.id)) { id throws(ManagerError) in
            try await client.getTask(id)
        } then: { _, answer throws(ManagerError) in
            do throws(ManagerError) {
                list.apply(.page([try answer.get()]))
            } catch {
                guard error.code == .noSuchTask else { throw error }
            }
        }
        var ends = list.tasks.filter { $0.value.activity != .moving }
        var open = Set(list.tasks.keys).subtracting(ends.keys)
        guard !open.isEmpty else { return ends }
        let notice = Task {
            try await Task.sleep(for: .seconds(2))
            Output.talk("Waiting until the file is moved; Ctrl-C ends the wait, not the move.")
        }
        defer { notice.cancel() }
        var isBehind = false
        for try await item in news {
            list.apply(item)
            switch item {
            case .anew: isBehind = true
            case .whole: isBehind = false
            case .left:
                Output.talk(
                    "The service has stopped; it moves the file after its next start:"
                        + " idown service start"
                )
            case .came, .page, .added, .changed, .removed: break
            }
            guard !isBehind else { continue }
            for id in open where list.tasks[id]?.activity != .moving {
                ends[id] = list.tasks[id]
                open.remove(id)
            }
            if open.isEmpty { return ends }
        }
        throw ManagerError(
            .disconnected,
            "the session bus went away; the service moves the file without it"
        )
    }
}
