// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown list`: all downloads, or a selection.
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the downloads.",
        discussion: """
            The list is in the order of adding, unless --sort is given. The last column tells why \
            a download failed or waits. Downloading is green, paused blue, failed red. On a \
            terminal the lines are cut to its width; in a pipe they are whole.

            Examples:
              idown list
              idown list failed paused
              idown list --search iso --sort size --reverse -n 10
              idown list completed --format '{Path}'
              idown list --json | jq -r '.[] | select(.State == "completed") | .Path'
            """,
        aliases: ["ls"]
    )

    @OptionGroup var selected: OptionalSelectionArguments

    @Option(help: ArgumentHelp("Only downloads in this state; repeatable.", valueName: "state"))
    var state: [TaskProperties.State] = []

    @Option(help: ArgumentHelp("Only downloads with this text in name or URL.", valueName: "text"))
    var search: String?

    @Option(
        help: ArgumentHelp("Only downloads that this application added.", valueName: "application")
    )
    var addedBy: String?

    @Option(help: ArgumentHelp("What to sort by.", valueName: "order"))
    var sort: TaskQuery.Sort?

    @Flag(help: "Reverse the order.")
    var reverse = false

    @Option(
        name: [.customShort("n"), .customLong("max-count")],
        help: ArgumentHelp("Show at most this many downloads.", valueName: "number")
    )
    var maxCount: UInt32?

    @OptionGroup var start: StartArguments

    @OptionGroup var format: FormatOptions

    @OptionGroup var color: ColorOption

    func validate() throws {
        if maxCount == 0 { throw ValidationError("--max-count is 1 or more") }
        let words = try selected.selection()
        if !words.words.isEmpty, words.plainStates != nil, !state.isEmpty {
            throw ValidationError("give states as words or by --state, not both")
        }
    }

    func run() async throws {
        try await Service.use(startsService: start.startsService) { client in
            if addedBy != nil {
                try await client.require(.addedBy, to: "tell which program added a download")
            }
            if let sort, [.host, .timeLeft].contains(sort) {
                try await client.require(.moreOrders, to: "sort by \(sort.rawValue)")
            }
            var tasks = try await found(try selected.selection(), client)
            if let maxCount { tasks = Array(tasks.prefix(Int(maxCount))) }
            guard try !format.print(tasks) else { return }
            guard !tasks.isEmpty else { return Output.talk("No downloads.") }
            let terminal = Terminal.output
            let table = TaskTable(
                tasks,
                width: terminal.width,
                style: color.style(of: terminal)
            )
            try Output.data(lines: table.lines)
        }
    }

    /// The service searches as far as it can; IDs and ranges are picked here.
    private func found(
        _ selection: TaskSelection,
        _ client: ManagerClient
    ) async throws(ManagerError) -> [TaskProperties] {
        var query = TaskQuery()
        // A long list arrives several times as fast with only the properties that are shown.
        if format.isForPeople { query.properties = TaskTable.properties }
        query.text = search
        query.addedBy = addedBy
        query.sort = sort
        query.descending = reverse ? true : nil
        guard !selection.words.isEmpty else {
            query.states = state
            query.limit = maxCount
            return try await client.allTasks(query)
        }
        if let named = selection.plainStates {
            query.states = named
            query.limit = maxCount
        } else {
            // Whether a named ID exists does not depend on the text that is searched for.
            query.text = nil
            query.addedBy = nil
        }
        var tasks = try selection.picked(from: try await client.allTasks(query))
        if !state.isEmpty { tasks.removeAll { !state.contains($0.state) } }
        guard search != query.text || addedBy != query.addedBy else { return tasks }
        var matching = TaskQuery()
        matching.text = search
        matching.addedBy = addedBy
        matching.properties = [.id]
        let ids = Set(try await client.allTasks(matching).map(\.id))
        return tasks.filter { ids.contains($0.id) }
    }
}

/// Whether a command that only looks may start the service.
struct StartArguments: ParsableArguments {
    @Flag(
        name: .customLong("no-start"),
        help: ArgumentHelp(
            "Do not start the service.",
            discussion: """
                A service that starts resumes unfinished downloads. If it does not run, this is \
                told, and the exit code is 69.
                """
        )
    )
    var leavesService = false

    var startsService: Bool { !leavesService }
}
