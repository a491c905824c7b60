// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown edit`: changes options of downloads in the list.
struct EditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Changes options of downloads: priority, limits, URL, headers and others.",
        discussion: """
            All values of a download are checked before the first one is changed. If a download \
            refuses them, the others are changed all the same. A running download follows a \
            new limit at once, and connects anew for other values; its bytes are kept. With a \
            fresh URL in place of one that expired, the download continues if the file behind it \
            is the same, and starts from the beginning if not. With --directory or --output the \
            file moves, and an unfinished one takes its bytes along to another disk. The command \
            waits for that; if the file cannot be moved, it stays in its old folder. Headers and \
            mirrors take the place of all earlier ones. An empty value takes an option away: \
            --referrer ''.

            Examples:
              idown edit 7 --priority 10
              idown edit downloading --limit 500k
              idown edit 7 --connections 2
              idown edit 7 --limit off --url 'https://example.org/file.iso?token=new'
              idown edit 7 --checksum sha-256=HEX
              idown edit 7 --directory /media/disk
            """
    )

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("Folder to save into; created if missing.", valueName: "folder"),
        completion: .directory
    )
    var directory: String?

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("File name to save as, without a folder.", valueName: "name")
    )
    var output: String?

    @Option(
        help: ArgumentHelp(
            "Maximum number of connections, 1 to 16, or default.",
            discussion: "The word default stands for the setting max-connections-per-download.",
            valueName: "number"
        ),
        completion: .list(["default"] + Contract.connections.map(String.init))
    )
    var connections: ConnectionsArgument?

    @Option(help: ArgumentHelp("Fresh URL; for a single download.", valueName: "url"))
    var url: String?

    @Option(
        help: ArgumentHelp("Length that the file must have; 0 for any.", valueName: "bytes")
    )
    var expectedSize: UInt64?

    @Option(
        help: ArgumentHelp(
            "Another URL of the same file; repeatable, in place of all earlier ones.",
            valueName: "url"
        )
    )
    var mirror: [String] = []

    @OptionGroup var request: RequestArguments

    @Option(help: ArgumentHelp("What to do with the finished file.", valueName: "choice"))
    var whenDone: FinishedFileChoice?

    @OptionGroup var change: ChangeArguments

    func validate() throws {
        if let limit = request.limit, !Contract.speedLimit.contains(limit.bytesPerSecond) {
            throw ValidationError("--limit is too high")
        }
        if let connections, !Contract.maxConnections.contains(connections.count) {
            throw ValidationError("--connections is 1 to 16, or default, not \(connections.count)")
        }
    }

    func run() async throws {
        let selection = try change.selected.selection()
        let options = try options()
        // Not in `validate`, which is called before ArgumentParser looks for unknown options.
        guard request.cookies.path != nil || !options.dictionary.isEmpty else {
            throw ValidationError("give what to change, such as --priority, --limit or --url")
        }
        if let name = options.keysOfOneFile.first, selection.plainIDs?.count != 1 {
            throw ValidationError(
                "\(AddOptions.argument(name)) is for a single download, named by its ID"
            )
        }
        let file = try request.cookies.file()
        try await Service.use { client in
            let namesPlace = directory != nil || output != nil
            let moves = namesPlace && !change.dryRun ? try await MoveWatch(client) : nil
            // Read first: if an ID does not exist, nothing is changed.
            let tasks = try await selection.tasks(client)
            guard !change.dryRun else {
                return try change.preview(tasks, "changed", where: { _ in true }) { task in
                    options.isRefused(in: task.state)
                }
            }
            let (edits, status) = Self.edits(of: tasks, options, file)
            var first = status
            let edit = try await client.editor(of: edits.first?.options ?? options)
            var passed = 0
            var edited: [TaskProperties] = []
            // The first one shows whether the values are good, before others are changed.
            for some in [edits.prefix(1), edits.dropFirst()] {
                try await CallsAtOnce.make(about: some) { task, options throws(ManagerError) in
                    try await edit(options, task.id)
                } then: { item, answer in
                    guard case .failure(let error) = answer else {
                        return edited.append(item.task)
                    }
                    let id = item.task.id
                    if selection.passesOver(refusal: error, of: id) {
                        passed += 1
                    } else if !selection.passesOver(error, of: id) {
                        // Any other error is about a value that every task would refuse.
                        guard error.isAboutOneTask else { throw error }
                        Output.complain(error.text(about: id, isOneOfSeveral: tasks.count > 1))
                        first = first ?? ExitStatus(error)
                    }
                }
            }
            Self.tell(passedOver: passed, of: tasks.count)
            let failures = try await moves?.failures(of: edited, towards: options.values)
            for task in failures ?? [] {
                Output.complain("download \(task.id): \(task.errorMessage)")
                first = first ?? ExitStatus(errorCode: task.errorCode)
            }
            if let first { throw first.exit }
        }
    }

    /// Returns the edit of each task; with a file, each gets the cookies of its own server.
    ///
    /// - Returns: The edits; the exit code if the file has no cookies for a task, which is told.
    private static func edits(
        of tasks: [TaskProperties],
        _ options: EditOptions,
        _ file: CookieFile?
    ) -> (edits: [(task: TaskProperties, options: EditOptions)], status: ExitStatus?) {
        var status: ExitStatus?
        var edits: [(task: TaskProperties, options: EditOptions)] = []
        for task in tasks {
            var options = options
            if let file {
                guard let own = file.cookies(for: options.url ?? task.url) else {
                    Output.complain("download \(task.id): the file has no cookies for its URL")
                    status = .refusedOption
                    continue
                }
                options.values.cookies = own
            }
            edits.append((task, options))
        }
        return (edits, status)
    }

    private static func tell(passedOver count: Int, of total: Int) {
        guard count > 0 else { return }
        let (were, their) = count == 1 ? ("was", "its") : ("were", "their")
        Output.talk(
            "\(count) of \(total) downloads \(were) not changed: \(their) state does not allow it."
        )
    }

    /// The options as the service takes them.
    private func options() throws -> EditOptions {
        var options = EditOptions()
        options.url = try url.map(DownloadArgument.checkedURL)
        options.values.directory = try directory.map(WorkingFolder.absolute)
        options.values.filename = output
        request.fill(&options.values)
        options.values.connections = connections?.count
        options.values.expectedSize = expectedSize
        if !mirror.isEmpty { options.values.mirrors = mirror.filter { !$0.isEmpty } }
        if !mirror.isEmpty, options.values.mirrors.isEmpty { options.cleared.insert(.mirrors) }
        switch whenDone {
        case .open: options.values.whenDone = .open
        case .reveal: options.values.whenDone = .reveal
        case .nothing: options.cleared.insert(.whenDone)
        case nil: break
        }
        if request.cookies.cookie == [""] { options.cleared.insert(.cookies) }
        options.values.cookies = request.cookies.value
        options.values.headers = try request.headers()
        if !request.header.isEmpty, options.values.headers.isEmpty {
            options.cleared.insert(.headers)
        }
        return options
    }
}

/// What to do with the finished file, as an edit has it.
enum FinishedFileChoice: String, CaseIterable, ExpressibleByArgument {
    case open, reveal, nothing
}

extension EditOptions {
    /// Whether the service refuses these options for a task in this state.
    fileprivate func isRefused(in state: TaskProperties.State) -> Bool {
        switch state {
        case .completed: !Self.namesForCompleted.isSuperset(of: dictionary.keys)
        case .cancelled: url != nil
        default: false
        }
    }
}

extension ManagerError {
    /// Whether other tasks may well take what this one refused.
    fileprivate var isAboutOneTask: Bool {
        switch code {
        case .noSuchTask, .invalidState, .fileExists, .invalidDestination: true
        default: false
        }
    }
}

extension TaskSelection {
    /// Whether a refusal can be ignored: a task that was not named by its ID is passed over where
    /// its state does not allow the change.
    fileprivate func passesOver(refusal error: ManagerError, of id: String) -> Bool {
        error.code == .invalidState && !words.contains(.id(id))
    }
}
