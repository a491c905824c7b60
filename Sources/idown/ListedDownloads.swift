// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownBus
import iDownSettings
import iDownView

/// The downloads that are in the list when a command begins to add to it.
///
/// The service continues an unfinished download of the same URL, and ignores the other options of
/// the call. The user meant them for this download, so they are applied to it first.
struct ListedDownloads {
    private let client: ManagerClient
    private let skipsCompleted: Bool
    /// The folder for downloads that name none; nil if the service does not tell it.
    private let usualFolder: String?
    /// The completed and the unfinished downloads by their URLs.
    private var tasks: [URLText: [TaskProperties]] = [:]
    private var unfinished: [String: TaskProperties] = [:]

    /// Waits for the disk of the usual folder if it is needed, and reads the list, unless the options
    /// make it unnecessary.
    ///
    /// - Parameters:
    ///   - client: The service.
    ///   - options: The options of all calls that follow.
    ///   - skipsCompleted: Whether a URL whose file is completed is not added.
    /// - Throws: The errors of the service.
    init(
        _ client: ManagerClient,
        for options: [AddOptions],
        skipsCompleted: Bool
    ) async throws(ManagerError) {
        self.client = client
        self.skipsCompleted = skipsCompleted
        let content = try await client.value(of: .downloadDirectory)
        usualFolder = if case .text(let folder) = content { folder } else { nil }
        if let usualFolder, options.contains(where: { $0.directory == nil }) {
            Disk.wait(for: usualFolder)
        }
        let hasEdits = options.contains { !EditOptions(of: $0).dictionary.isEmpty }
        guard skipsCompleted || hasEdits else { return }
        var query = TaskQuery()
        query.states = [.waiting, .downloading, .paused, .failed]
        if skipsCompleted { query.states.append(.completed) }
        query.properties = [
            .url, .directory, .fileName, .state, .path, .totalBytes, .checksum, .headerNames,
        ]
        for task in try await client.allTasks(query) {
            if task.state != .completed { unfinished[task.id] = task }
            if let url = URLText(task.url) { tasks[url, default: []].append(task) }
        }
    }

    /// Adds URLs in one call, except those whose files are completed.
    ///
    /// - Parameters:
    ///   - urls: The URLs.
    ///   - options: The options of all of them.
    ///   - ids: Gets the ID of each URL's download, even if one cannot take the options.
    /// - Throws: The errors of the service; `InvalidOption` if a download of the list cannot take the
    ///   options.
    func add(
        _ urls: [String],
        _ options: AddOptions,
        into ids: inout [String]
    ) async throws(ManagerError) {
        var completed: [String: String] = [:]
        if skipsCompleted {
            for url in urls { completed[url] = try await self.completed(url, options) }
        }
        let missing = urls.filter { completed[$0] == nil }
        // A download that the call would continue must get the options before it starts. It is not
        // known which downloads a call with a token means.
        let hasEdits = !EditOptions(of: options).dictionary.isEmpty
        let isHeld =
            options.token == nil && options.paused != true && hasEdits
            && missing.contains { url in
                matches(url, options).contains { unfinished[$0.id] != nil }
            }
        var held = options
        if isHeld { held.paused = true }
        var added = try await call(missing, held)
        let refusals = try await apply(options, to: added)
        if isHeld {
            let ready = zip(missing, added).filter { refusals[$1] == nil }
            let new = ready.map(\.1).filter { unfinished[$0] == nil }
            if !new.isEmpty { _ = try await client.startTasks(new) }
            // A second call continues paused and failed downloads, because it passes the user's
            // logins on.
            let still = ready.filter { [.paused, .failed].contains(unfinished[$1]?.state) }
            _ = try await call(still.map(\.0), options)
        }
        ids += completed.isEmpty ? added : urls.map { completed[$0] ?? added.removeFirst() }
        if let refusal = refusals.first?.value { throw refusal }
    }

    /// Adds URLs; a single one with AddURL, whose errors do not name a place in the list.
    private func call(
        _ urls: [String],
        _ options: AddOptions
    ) async throws(ManagerError) -> [String] {
        guard let url = urls.first else { return [] }
        guard urls.count == 1 else { return try await client.addURLs(urls, options: options) }
        return [try await client.addURL(url, options: options)]
    }

    /// Adds the files of a metalink of this machine.
    ///
    /// - Parameters:
    ///   - path: The metalink's absolute path.
    ///   - options: The options of all files.
    ///   - ids: Gets the ID of each file's download.
    /// - Throws: As ``add(_:_:into:)``.
    func addMetalink(
        at path: String,
        _ options: AddOptions,
        into ids: inout [String]
    ) async throws(ManagerError) {
        let added = try await client.addMetalink(at: path, options: options)
        ids += added
        if let refusal = try await apply(options, to: added).first?.value { throw refusal }
    }

    /// Applies the options to those of these downloads that were in the list before.
    ///
    /// - Returns: The downloads that cannot take them and keep their own.
    private func apply(
        _ options: AddOptions,
        to ids: [String]
    ) async throws(ManagerError) -> [String: ManagerError] {
        let edit = EditOptions(of: options)
        guard !edit.dictionary.isEmpty else { return [:] }
        var refusals: [String: ManagerError] = [:]
        for id in ids {
            guard let task = unfinished[id] else { continue }
            do throws(ManagerError) {
                try await client.setOptions(edit.keepingHeaders(of: task), of: id)
            } catch {
                guard !error.isUnreachable else { throw error }
                // The download has ended or was removed meanwhile.
                if [.invalidState, .noSuchTask].contains(error.code) { continue }
                let text =
                    "download \(id) has this URL already and does not take the options:"
                    + " \(error.message) To change it: idown edit \(id)"
                refusals[id] = ManagerError(.invalidOption, text)
            }
        }
        return refusals
    }

    /// Returns the ID of a download of this URL whose file is whole; nil if there is none.
    ///
    /// If a digest is given, the file is read and must match.
    private func completed(
        _ url: String,
        _ options: AddOptions
    ) async throws(ManagerError) -> String? {
        let whole = matches(url, options).last { task in
            task.state == .completed && Self.size(of: task.path) == task.knownTotal
        }
        guard let whole, let checksum = options.checksum else { return whole?.id }
        // The digest may be mistyped, so the download gets its own digest back.
        let isOther = whole.checksum != checksum
        let interruption = isOther ? await giveBackWhenInterrupted(whole) : nil
        defer { interruption?.cancel() }
        do throws(ManagerError) {
            try await give(checksum, to: whole.id)
            if try await client.verify(whole.id) == .checksum { return whole.id }
        } catch {
            if isOther { try? await give(whole.checksum, to: whole.id) }
            throw error
        }
        Output.complain("the file of download \(whole.id) does not have this digest")
        if isOther {
            try await give(whole.checksum, to: whole.id)
            _ = try await client.verify(whole.id)
        }
        return nil
    }

    /// Has Ctrl-C, kill and a closed terminal end the command only after a download has got its own
    /// digest back.
    ///
    /// - Returns: The task that waits for the signal.
    private func giveBackWhenInterrupted(_ task: TaskProperties) async -> Task<Void, Never> {
        let interrupts = await Interrupts.start(SIGINT, SIGTERM, SIGHUP)
        return Task {
            for await number in interrupts {
                try? await give(task.checksum, to: task.id)
                Output.complain(
                    "the file of download \(task.id) was not read to its end; the download is as"
                        + " it was"
                )
                // As a shell tells a signal.
                exit(128 + number)
            }
        }
    }

    private func give(_ checksum: String, to id: String) async throws(ManagerError) {
        var edit = EditOptions()
        edit.values.checksum = checksum
        try await client.setOptions(edit, of: id)
    }

    /// The downloads of a URL in the folder, and with the name if one is given.
    private func matches(_ url: String, _ options: AddOptions) -> [TaskProperties] {
        guard let url = URLText(url)?.encoded, let tasks = tasks[url],
            let folder = (options.directory ?? usualFolder).flatMap(Disk.resolved)
        else { return [] }
        return tasks.filter { task in
            task.directory == folder && [nil, task.fileName].contains(options.filename)
        }
    }

    /// The size of a regular file; nil where there is none: stat(2).
    private static func size(of path: String) -> UInt64? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return UInt64(status.st_size)
    }
}
