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

    /// Why a download that was in the list before keeps its own options, with its place in the call.
    typealias Refusal = (place: Int, error: ManagerError)

    /// Adds downloads in one call, except those whose files are completed.
    ///
    /// - Parameters:
    ///   - downloads: The downloads. A token that all have, with equal options, is that of the call.
    ///   - ids: Gets the ID of each download, even if it cannot take the options.
    /// - Returns: The refusals of downloads of the list that cannot take the options, in order.
    /// - Throws: The errors of the service.
    func add(
        _ downloads: [NewDownload],
        into ids: inout [String]
    ) async throws(ManagerError) -> [Refusal] {
        var known: [Int: String] = [:]
        if skipsCompleted {
            for (place, download) in downloads.enumerated() {
                known[place] = try await completed(download.url, download.options)
            }
        }
        let places = downloads.indices.filter { known[$0] == nil }
        // No other entry with the URL of such a download may start it, either.
        let url = { (place: Int) in URLText(downloads[place].url)?.encoded }
        let continued = Set(places.filter { continues(downloads[$0]) }.map(url))
        let held = Set(
            places.filter { continued.contains(url($0)) && mayHold(downloads[$0].options) }
        )
        let calls = places.map { place in
            var download = downloads[place]
            if held.contains(place) { download.options.paused = true }
            return download
        }
        let added = Array(zip(places, try await call(calls)))
        let refusals = try await applyOptions(to: added) { downloads[$0].options }
        let refused = Set(refusals.map(\.place))
        let ready = added.filter { place, _ in held.contains(place) && !refused.contains(place) }
        let new = ready.map(\.1).filter { unfinished[$0] == nil }
        if !new.isEmpty { _ = try await client.startTasks(new) }
        // A second call continues paused and failed downloads, because it passes the user's
        // logins on.
        let still = ready.filter { [.paused, .failed].contains(unfinished[$1]?.state) }
        _ = try await call(still.map { downloads[$0.0] })
        known.merge(added) { $1 }
        ids += downloads.indices.compactMap { known[$0] }
        return refusals
    }

    /// Whether a call would continue a download of the list, which must get the options before it
    /// starts.
    ///
    /// It is not known which download a call with a token means.
    private func continues(_ download: NewDownload) -> Bool {
        let options = download.options
        guard !unfinished.isEmpty, mayHold(options) else { return false }
        return !EditOptions(of: options).dictionary.isEmpty
            && matches(download.url, options).contains { unfinished[$0.id] != nil }
    }

    /// Whether a call may first leave a download with these options paused.
    private func mayHold(_ options: AddOptions) -> Bool {
        options.token == nil && options.paused != true
    }

    /// Adds downloads; a single one with AddURL, whose errors do not name a place in the list.
    private func call(_ downloads: [NewDownload]) async throws(ManagerError) -> [String] {
        guard let first = downloads.first else { return [] }
        let options = first.options
        guard downloads.count > 1 else {
            return [try await client.addURL(first.url, options: options)]
        }
        if options.keysOfOneFile.isEmpty, downloads.allSatisfy({ $0.options == options }) {
            return try await client.addURLs(downloads.map(\.url), options: options)
        }
        try await client.require(.addMany, to: "add downloads with different options in one call")
        return try await client.addMany(downloads)
    }

    /// Adds the files of a metalink of this machine.
    ///
    /// - Parameters:
    ///   - path: The metalink's absolute path.
    ///   - options: The options of all files.
    ///   - ids: Gets the ID of each file's download.
    /// - Throws: The errors of the service; `InvalidOption` if a download of the list cannot take the
    ///   options.
    func addMetalink(
        at path: String,
        _ options: AddOptions,
        into ids: inout [String]
    ) async throws(ManagerError) {
        let added = try await client.addMetalink(at: path, options: options)
        ids += added
        let refusals = try await applyOptions(to: Array(zip(added.indices, added))) { _ in options }
        if let refusal = refusals.first { throw refusal.error }
    }

    /// Applies options to those of these downloads that were in the list before.
    ///
    /// - Parameters:
    ///   - added: The places and IDs of the downloads.
    ///   - options: Returns the options of the download at a place.
    /// - Returns: The refusals of the downloads that cannot take them and keep their own, in order.
    /// - Throws: The errors of the service when it cannot be reached.
    private func applyOptions(
        to added: [(Int, String)],
        _ options: (Int) -> AddOptions
    ) async throws(ManagerError) -> [Refusal] {
        var refusals: [Refusal] = []
        var rest = added.filter { unfinished[$1] != nil }
            .map { place, id in (place: place, options: options(place), id: id) }
        while !rest.isEmpty {
            // A download that is named twice takes the options in their order.
            var ids: Set<String> = []
            let isFirst = rest.map { ids.insert($0.id).inserted }
            let first = zip(rest, isFirst).filter(\.1).map(\.0)
            rest = zip(rest, isFirst).filter { !$1 }.map(\.0)
            try await CallsAtOnce.make(about: first) { edit throws(ManagerError) in
                try await apply(edit.options, to: edit.id)
            } then: { edit, result throws(ManagerError) in
                if let error = try result.get() { refusals.append((edit.place, error)) }
            }
        }
        return refusals.sorted { $0.place < $1.place }
    }

    /// Applies options to a download of the list, and returns why it does not take them.
    private func apply(
        _ options: AddOptions,
        to id: String
    ) async throws(ManagerError) -> ManagerError? {
        let edit = EditOptions(of: options)
        guard !edit.dictionary.isEmpty, let task = unfinished[id] else { return nil }
        do throws(ManagerError) {
            try await client.setOptions(edit.keepingHeaders(of: task), of: id)
            return nil
        } catch {
            guard !error.isUnreachable else { throw error }
            // The download has ended or was removed meanwhile.
            if [.invalidState, .noSuchTask].contains(error.code) { return nil }
            let text =
                "download \(id) has this URL already and does not take the options:"
                + " \(error.message) To change it: idown edit \(id)"
            return ManagerError(.invalidOption, text)
        }
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
