// SPDX-License-Identifier: Apache-2.0

import Curl
import Executors
import iDownBus
package import iDownState
import iDownloader

/// A folder that was checked and created for a call.
struct CheckedFolder: Sendable {
    /// The path that the call asked for.
    let path: String
    let rules: FolderRules
    /// The path with its links resolved.
    let directory: String
}

/// Turns what a client sends into tasks that can be added, or refuses it with the contract's error.
struct OptionChecker: Sendable {
    let engine: Engine
    let downloadDirectory: String
    let rules: FolderRules
    /// For how many seconds tasks are tried without progress where no option says so.
    var retryFor = RetryPolicy.usualRetryFor
    /// The owner of the tasks; nil for the user's own programs.
    var owner: String?
    /// The id of the calling application; nil where it is unknown.
    var addedBy: String?
    /// The folder of the call, where it was checked already; nil otherwise.
    var folder: CheckedFolder?

    /// Checks all URLs and options, creates the folder, and returns the tasks.
    ///
    /// With `isList`, an error names the position of a URL, even of the only one.
    func judge(_ urls: [String], _ options: AddOptions, isList: Bool) async throws -> [NewTask] {
        var references = try await Self.references(urls, isList)
        // Each URL is freed once its task is there, since a call may bring 60 MB of them.
        references.reverse()
        var tasks: [NewTask] = []
        tasks.reserveCapacity(references.count)
        while let reference = references.popLast() { tasks.append(task(for: reference)) }
        return try await finished(consume tasks, with: options)
    }

    /// Checks downloads that each have options of their own, and returns their tasks.
    ///
    /// The folders are created once all URLs, names, mirrors and checksums are known to be valid.
    ///
    /// - Parameters:
    ///   - downloads: the downloads as the client gave them.
    ///   - known: the positions of those that are added already.
    /// - Returns: the tasks to add, in order.
    /// - Throws: `ManagerError`, whose text names the position.
    func judge(
        _ downloads: [NewDownload],
        except known: Set<Int>
    ) async throws(ManagerError) -> [NewTask] {
        let files = try await Self.files(of: downloads, except: known)
        let folders = try await folders(of: downloads, except: known)
        var tasks: [NewTask] = []
        for (index, download) in downloads.enumerated() {
            guard let (reference, values) = files[index] else { continue }
            let place = NewDownload.name(ofPlace: index)
            let path = download.options.directory ?? downloadDirectory
            do {
                var wish = task(for: reference)
                wish.request.directory = folders[Array(path.utf8)] ?? path
                try await apply(values, isPaused: download.options.paused, to: &wish)
                wish.token = download.options.token
                wish.place = place
                tasks.append(wish)
            } catch {
                throw ManagerError(error).named(by: place)
            }
            // The bus serves other calls meanwhile.
            if index % Commits.piece == 0 { await Task.yield() }
        }
        return tasks
    }

    /// Returns the folders of downloads, by the bytes of the paths that the client gave.
    ///
    /// All are checked before the first is made, so that a refusal leaves none.
    private func folders(
        of downloads: [NewDownload],
        except known: Set<Int>
    ) async throws(ManagerError) -> [[UInt8]: String] {
        var folders: [[UInt8]: String] = [:]
        for makes in [false, true] {
            folders = [:]
            for (index, download) in downloads.enumerated() where !known.contains(index) {
                let path = Array((download.options.directory ?? downloadDirectory).utf8)
                do {
                    try checkWhenDone(download.options)
                    guard folders[path] == nil else { continue }
                    folders[path] = try await prepared(download.options.directory, makes: makes)
                } catch {
                    throw ManagerError(error).named(by: NewDownload.name(ofPlace: index))
                }
            }
        }
        return folders
    }

    /// Returns the values that options give a new or a known task, all but its URL and folder.
    ///
    /// - Throws: `ManagerError` for a bad name, mirror or checksum.
    private static func values(
        of options: AddOptions,
        without cleared: Set<EditOptions.Clearable> = []
    ) throws(ManagerError) -> TaskEdit {
        func change<Content>(_ option: EditOptions.Clearable, to content: Content?) -> Content?? {
            cleared.contains(option) ? .some(nil) : content.map { .some($0) }
        }
        // An empty text counts as none, so that no empty field is sent.
        func given(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        var values = TaskEdit()
        if let name = options.filename { try check(name) }
        values.fileName = options.filename
        if !options.mirrors.isEmpty || cleared.contains(.mirrors) {
            values.mirrors = try mirrors(options.mirrors)
        }
        values.checksum = change(.checksum, to: try checksum(options.checksum))
        let size = options.expectedSize.flatMap { $0 == 0 ? nil : Int64(clamping: $0) }
        values.expectedSize = change(.expectedSize, to: size)
        if !options.headers.isEmpty || cleared.contains(.headers) {
            values.headers = options.headers.map { .init(name: $0.name, value: $0.value) }
        }
        // No login of the referrer is sent to a server, so the list does not store it either.
        let referrer = given(options.referrer).map(TaskRequest.withoutLogin)
        values.referrer = change(.referrer, to: referrer)
        values.userAgent = change(.userAgent, to: given(options.userAgent))
        values.cookies = change(.cookies, to: given(options.cookies))
        values.connections = change(.connections, to: options.connections.map(Int.init))
        let whenDone = options.whenDone.flatMap { WhenDone(rawValue: $0.rawValue) }
        values.whenDone = change(.whenDone, to: whenDone)
        values.onExisting = options.onExisting.flatMap { OnExisting(rawValue: $0.rawValue) }
        values.speedLimit = options.speedLimit.map { Int64(clamping: $0) }
        values.priority = options.priority
        values.retryFor = options.retryFor.map { Int64(clamping: $0) }
        return values
    }

    /// Returns the task for a URL, whose folder is not known yet; `isUsersOwn` tells whether the user
    /// chose the URL.
    func task(for reference: URLReference, isUsersOwn: Bool = true) -> NewTask {
        var request = TaskRequest(url: reference.text, directory: "")
        // A sandboxed application must not use the logins that the user has stored.
        request.usesStoredLogins = isUsersOwn && owner == nil
        request.owner = owner
        return NewTask(request: request)
    }

    /// Reads the URLs on another thread, because the bus has other calls to serve; the result is
    /// nil for each download that is left out.
    @concurrent
    private static func files(
        of downloads: [NewDownload],
        except known: Set<Int>
    ) async throws(ManagerError) -> [(URLReference, TaskEdit)?] {
        try downloads.enumerated().map { index, download throws(ManagerError) in
            guard !known.contains(index) else { return nil }
            let place = NewDownload.name(ofPlace: index)
            let url = try reference(download.url, place: place)
            do throws(ManagerError) {
                return (url, try values(of: download.options))
            } catch {
                throw error.named(by: place)
            }
        }
    }

    /// Checks the options that apply to every task, creates the folder, and applies both.
    ///
    /// - Throws: `ManagerError`, or what is wrong with the folder.
    func finished(
        _ tasks: consuming [NewTask],
        with options: AddOptions
    ) async throws -> [NewTask] {
        try checkWhenDone(options)
        let values = try Self.values(of: options)
        let directory: String
        if let folder {
            directory = folder.directory
        } else {
            directory = try await prepared(options.directory)
        }
        for index in tasks.indices {
            tasks[index].request.directory = directory
            try await apply(values, isPaused: options.paused, to: &tasks[index])
        }
        return tasks
    }

    /// Gives a new task its values.
    private func apply(
        _ values: TaskEdit,
        isPaused: Bool?,
        to task: inout NewTask
    ) async throws {
        task.request.addedBy = addedBy
        task.request.retryFor = retryFor
        task.request.fileName = values.fileName ?? task.request.fileName
        task.request.take(values)
        task.priority = values.priority
        task.speedLimit = values.speedLimit ?? 0
        task.isPaused = isPaused ?? false
        if task.request.onExisting == .fail, let name = task.request.fileName,
            try await isTaken(name, in: task.request.directory)
        {
            task.takenName = name
        }
    }

    private func isTaken(
        _ name: String,
        in directory: String,
        own: LocalFile? = nil
    ) async throws -> Bool {
        let engine = engine
        let isTaken = await engine.look(in: directory) {
            await engine.isTaken(name, in: directory, own: own)
        }
        guard let isTaken else { throw ServiceRefusal.diskIsStuck }
        return isTaken
    }

    private func checkWhenDone(_ options: AddOptions) throws(ManagerError) {
        guard options.whenDone != nil, owner != nil else { return }
        throw ManagerError(
            .invalidOption,
            "when-done must not be given by a sandboxed application."
        )
    }

    /// Checks changes of a task like options of a new one, and creates the folder.
    ///
    /// - Parameters:
    ///   - options: the options as the client gave them.
    ///   - record: the task, whose other values are checked together with the new ones.
    /// - Returns: the new values.
    /// - Throws: `ManagerError`, or what is wrong with the folder.
    func judge(_ options: EditOptions, for record: TaskRecord) async throws -> TaskEdit {
        let values = options.values
        let finished = record.state == .completed ? record.file : nil
        let url = try options.url.map { url in try Self.reference(url).text }
        try checkWhenDone(values)
        var edit = try Self.values(of: values, without: options.cleared)
        edit.url = url
        if let directory = values.directory {
            edit.directory = try await prepared(directory, for: finished)
        } else if edit.url != nil || edit.fileName != nil || edit.mirrors != nil {
            try await checkFolder(of: record)
        }
        guard let place = edit.wantedPlace(of: record) else { return edit }
        var isTaken = false
        if let finished {
            // A stuck disk tells by the move's end.
            isTaken =
                (try? await self.isTaken(place.name, in: place.directory, own: finished)) == true
        } else if (edit.onExisting ?? record.request.onExisting) == .fail {
            isTaken = try await self.isTaken(place.name, in: place.directory)
        }
        if isTaken { throw ServiceRefusal.fileExists(place.name) }
        return edit
    }

    /// Refuses a sandboxed application to choose what is written into a folder that it could not
    /// choose, to which the user has moved its download.
    func checkFolder(of record: TaskRecord) async throws(FolderRefusal) {
        guard owner != nil else { return }
        for folder in [record.request.directory, record.destination?.directory] {
            guard let folder else { continue }
            _ = try await prepared(folder, makes: false)
        }
    }

    /// Returns a folder, links resolved, and makes it unless `makes` is false.
    ///
    /// A refusal tells the folder, and that it is the one of the settings where the client named none.
    private func prepared(
        _ directory: String?,
        for finished: LocalFile? = nil,
        makes: Bool = true
    ) async throws(FolderRefusal) -> String {
        let path = directory ?? downloadDirectory
        do throws(FolderRefusal) {
            return try await engine.folders.prepare(path, rules: rules, for: finished, makes: makes)
        } catch {
            guard directory == nil else { throw error.naming(path) }
            throw FolderRefusal("The folder for downloads is \(path). \(error.message)")
        }
    }

    /// Reads URLs; more than 100 on another thread, because the bus has other calls to serve.
    private static func references(
        _ urls: [String],
        _ isList: Bool
    ) async throws -> [URLReference] {
        let read: @Sendable () throws -> [URLReference] = {
            try urls.enumerated().map { index, url in
                try reference(url, place: isList ? "URL \(index + 1): " : "")
            }
        }
        return urls.count > 100 ? try await aside(read) : try read()
    }

    /// Checks one URL; `place` begins the text of an error.
    static func reference(_ text: String, place: String = "") throws(ManagerError)
        -> URLReference
    {
        // Before an `@`, this may be a user name, which must not be shown.
        if text.utf8.count <= URLReference.maximumLength,
            let scheme = URLReference.scheme(of: text),
            !URLReference.servedSchemes.contains(scheme)
        {
            let shown = text.utf8.contains(UInt8(ascii: "@")) ? "such" : "\(scheme.prefix(40)):"
            throw ManagerError(
                .unsupportedScheme,
                "\(place)idown does not download \(shown) URLs. It downloads "
                    + "\(URLReference.servedSchemes.joined(separator: ", ")) URLs."
            )
        }
        let reference: URLReference
        do {
            reference = try URLReference(text)
        } catch .tooLong {
            throw ManagerError(
                .limitExceeded,
                "\(place)\(shown(text)) is too long for a URL: \(URLFailure.tooLong)."
            )
        } catch {
            throw ManagerError(.invalidURL, "\(place)\(shown(text)) is not a URL: \(error).")
        }
        guard !reference.isFolder else {
            throw ManagerError(
                .invalidURL,
                "\(place)\(shown(text)) names a folder. Give a URL that ends with the name of a"
                    + " file."
            )
        }
        return reference
    }

    /// Checks mirrors like URLs, but an error refuses the option.
    private static func mirrors(_ mirrors: [String]) throws(ManagerError) -> [String] {
        do {
            return try mirrors.enumerated().map { index, url in
                try reference(url, place: "mirrors: URL \(index + 1): ").text
            }
        } catch {
            let refusal = ManagerError(error)
            guard refusal.code != .limitExceeded else { throw refusal }
            throw ManagerError(.invalidOption, refusal.message)
        }
    }

    private static func checksum(_ text: String?) throws(ManagerError) -> Checksum? {
        guard let text else { return nil }
        do {
            return try Checksum(parsing: text)
        } catch {
            throw ManagerError(.invalidOption, "checksum must be \(error).")
        }
    }

    /// Returns a bad URL as an error may show it: without the text before an `@` or after `?` or
    /// `#`.
    ///
    /// This looks at scalars, because a combining mark would make another character of a separator.
    /// An `@` may stand in a query, and `?` or `#` in a password: if the `@` comes after one of
    /// these, only that mark is shown.
    static func shown(_ text: String) -> String {
        // No URL is as long as a message may be.
        guard text.utf8.count <= URLReference.maximumLength else { return "the text" }
        var shown = text.unicodeScalars[...]
        let end = shown.firstIndex { $0 == "?" || $0 == "#" } ?? shown.endIndex
        if let at = shown.lastIndex(of: "@") {
            shown = at < end ? shown[shown.index(after: at)..<end] : shown[end...].prefix(1)
        } else {
            shown = shown[..<end]
        }
        let printable = shown.prefix(100).map { scalar in
            scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar
        }
        return "“\(String(String.UnicodeScalarView(printable)))”"
    }

    private static func check(_ name: String) throws(ManagerError) {
        do {
            _ = try FileName(option: name)
        } catch {
            throw ManagerError(.invalidOption, error.message)
        }
    }
}

/// A task that is valid and can be added.
package struct NewTask: Sendable {
    package var request: TaskRequest
    package var priority: Int32?
    /// Bytes a second; 0 for no limit.
    package var speedLimit: Int64 = 0
    package var isPaused = false
    /// The name that a new task needs but cannot have; nil where it can.
    ///
    /// It does not concern a task that is resumed instead.
    package var takenName: String?
    /// The token of this task alone, which gives the same id for ever; nil where there is none.
    var token: String?
    /// What an error calls the task; empty where the call has only one.
    var place = ""
    /// Hashes of the file's pieces, which are stored beside the task.
    package var pieces: PieceHashes?
    /// Whether a program of the user's own asked for the task.
    ///
    /// Such a request also resumes a task that may use the user's logins, even if the request
    /// itself may not.
    var isUsersOwn = false
    /// The ids in the vault of logins that equal the login of its URL.
    var keptLogins: Set<String> = []
}
