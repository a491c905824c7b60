// SPDX-License-Identifier: Apache-2.0

import iDownData
package import iDownState
import iDownloader

/// Finds the unfinished task for which a browser's new download may be a fresh link, and gives the
/// task that link if the user agrees.
///
/// The new download is a task of its own, and stays one unless the user decides otherwise. So the
/// file is never lost, and a web page cannot change another task.
final class FreshLinks {
    /// How long the task has to get further with the new link.
    private static let patience: Duration = .seconds(60)
    /// The time between two looks at the task.
    private static let pause: Duration = .milliseconds(200)
    /// The most answers that are kept: as many as downloads can be handed over at once.
    private static let most = 64

    /// The answers to downloads that were handed over lately, by task.
    private var offers: [TaskID: OfferedFile] = [:]
    /// The question that the user was asked last; answers to earlier ones have no effect.
    private var question: (task: TaskID, new: TaskID)?

    /// Keeps the answer that the server gave to a hand-over.
    func keep(_ file: OfferedFile, for id: TaskID) {
        if offers.count < Self.most { offers[id] = file }
    }

    func forget(_ id: TaskID) { offers[id] = nil }

    /// Returns the unfinished task for which a confirmed hand-over may be a fresh link, or nil.
    ///
    /// Only the first call for a hand-over returns a task.
    ///
    /// - Throws: `StoreFailure`; `ServiceRefusal.noSuchTask`.
    func task(
        for new: TaskID,
        token: String,
        in coordinator: isolated Coordinator
    ) async throws -> TaskSnapshot? {
        guard let file = offers.removeValue(forKey: new) else { return nil }
        let request = try await coordinator.task(new).record.request
        guard let page = request.referrer else { return nil }
        let records = try await coordinator.store.read {
            try $0.handOvers.unfinishedTasks(like: token, from: page)
        }
        let record = records.first { $0.id != new && file.mayContinue($0, by: request) }
        guard let record else { return nil }
        question = (record.id, new)
        return coordinator.snapshot(of: Shared(record))
    }

    /// Continues a task with the link of a new download, after the user has agreed.
    ///
    /// Where neither a digest nor the same strong validator proves that both are one file, the task
    /// would begin from zero. The new download has already done so: it stays, and the task is
    /// removed. The same holds if the bytes on disk turn out to belong to another file.
    ///
    /// - Throws: `StoreFailure`; `ServiceRefusal`; `Refusal`.
    func carryOn(
        _ task: TaskID,
        with new: TaskID,
        in coordinator: isolated Coordinator
    ) async throws {
        guard let question, question.task == task, question.new == new else { return }
        self.question = nil
        let before = try await coordinator.task(task).record
        let fresh = try await coordinator.task(new).record
        // A task that has ended needs no link, and a link that is refused helps none.
        guard before.state.isUnfinished, fresh.state.isUnfinished,
            fresh.failure == nil || fresh.state == .downloading
        else { return }
        let isProven =
            before.request.hasDigest(of: before.remote)
            || (!before.remote.needsProof && before.remote.isSame(as: fresh.remote))
        guard isProven, !before.segments.isEmpty else {
            return try await coordinator.carryOut(.remove, on: task)
        }
        var edit = TaskEdit()
        edit.url = fresh.request.url
        edit.headers = fresh.request.headers
        edit.userAgent = .some(fresh.request.userAgent)
        edit.cookies = .some(fresh.request.cookies)
        try await coordinator.edit(task, edit)
        // What the transfer with the old link still brings is not the new link's.
        await coordinator.transferEnd(of: task)
        let kept = try await coordinator.task(task).record.segments.byteCount
        try await coordinator.carryOut(.resume, on: task)
        try await settle(before, kept, new, in: coordinator)
    }

    /// Removes the new download once the task has got further with the new link, which may work
    /// only once.
    ///
    /// If the task has lost its bytes, or the new download is complete before the task gets
    /// further, the task is removed instead; otherwise both stay. The new download keeps its slot: its answer
    /// may be the last one that the link gives.
    private func settle(
        _ before: TaskRecord,
        _ kept: Int64,
        _ new: TaskID,
        in coordinator: isolated Coordinator
    ) async throws {
        let task = before.id
        let end = coordinator.time.now + Self.patience
        while coordinator.time.now < end {
            try await coordinator.time.sleep(for: Self.pause)
            guard let now = try? await coordinator.task(task) else { return }
            let fresh = try await coordinator.task(new).record
            let isNew = now.record.attempt != before.attempt
            let bytes = now.live?.bytes ?? 0
            switch now.record.state {
            case .paused, .cancelled:
                return
            case .downloading where isNew && bytes > kept, .completed:
                guard fresh.state.isUnfinished else { return }
                return try await coordinator.carryOut(.remove, on: new)
            case .downloading where isNew && now.record.segments.byteCount < kept,
                .downloading where fresh.state == .completed,
                .waiting where fresh.state == .completed,
                .failed where fresh.state == .completed:
                return try await coordinator.carryOut(.remove, on: task)
            case .waiting(.retry) where isNew && now.record.failure?.code == .serverForbidden,
                .failed:
                // The link has worked for the new download alone.
                return
            case .downloading, .waiting:
                continue
            }
        }
    }
}

extension Coordinator {
    /// Returns the unfinished task for which a hand-over that was just confirmed may be a fresh
    /// link.
    func taskToContinue(with new: TaskID, token: String) async throws -> TaskSnapshot? {
        try await freshLinks.task(for: new, token: token, in: self)
    }

    /// Continues a task with the link of a browser's new download, as the user wants; the new
    /// download is removed once the link has proven good.
    package func carryOn(_ task: TaskID, with new: TaskID) async throws {
        try await freshLinks.carryOn(task, with: new, in: self)
    }
}
