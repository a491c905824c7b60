// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown list`: all tasks, or those that are asked for.
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the downloads.",
        discussion: """
            In the order of adding, or as --sort says. Downloading stands in green, paused in blue, \
            failed in red. On a terminal the lines are cut to its width; in a pipe they are whole.

            Examples:
              idown list
              idown list failed paused
              idown list --search iso --sort size --reverse
              idown list completed --format '{Path}'
              idown list --json | jq -r '.[] | select(.State == "completed") | .Path'
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Only these: IDs, ranges such as 3-7, states, or all.",
            valueName: "selection"
        ),
        completion: TaskCompletion.selections
    )
    var words: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only downloads in this state; may be given several times.",
            discussion: TaskProperties.State.known.map(\.rawValue).joined(separator: ", ")
        ),
        completion: .list(TaskProperties.State.known.map(\.rawValue))
    )
    var state: [String] = []

    @Option(help: ArgumentHelp("Only those with this in name or URL.", valueName: "text"))
    var search: String?

    @Option(
        help: ArgumentHelp(
            "The order: \(TaskQuery.Sort.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "order"
        ),
        completion: .list(TaskQuery.Sort.allCases.map(\.rawValue)),
        transform: Self.sort
    )
    var sort: TaskQuery.Sort?

    @Flag(help: "The other way round.")
    var reverse = false

    @Option(help: ArgumentHelp("At most so many.", valueName: "count"))
    var limit: UInt32?

    @OptionGroup var format: FormatOptions

    @OptionGroup var color: ColorOption

    func validate() throws {
        let known = TaskProperties.State.known.map(\.rawValue)
        if let unknown = state.first(where: { !known.contains($0) }) {
            throw ValidationError(
                "there is no state \(unknown); there are \(known.joined(separator: ", "))"
            )
        }
        _ = try selection()
    }

    func run() async throws {
        try await Service.use { client in
            let selection = try selection()
            var tasks = try await found(selection, client)
            if let limit { tasks = Array(tasks.prefix(Int(limit))) }
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

    /// The service looks, as far as it can; ids and ranges are picked here.
    private func found(
        _ selection: TaskSelection,
        _ client: ManagerClient
    ) async throws(ManagerError) -> [TaskProperties] {
        var query = TaskQuery()
        // A long list comes several times as fast with what is shown of it.
        if format.isForPeople { query.properties = TaskTable.properties }
        query.text = search
        query.sort = sort
        query.descending = reverse ? true : nil
        let states = state.map { TaskProperties.State(rawValue: $0) }
        guard !selection.words.isEmpty else {
            query.states = states
            query.limit = limit
            return try await client.allTasks(query)
        }
        if let named = selection.plainStates {
            query.states = named
        } else {
            // Whether an ID is there does not depend on what is searched for.
            query.text = nil
        }
        var tasks = try Self.pick(selection, from: try await client.allTasks(query))
        if !states.isEmpty { tasks.removeAll { !states.contains($0.state) } }
        guard search != query.text else { return tasks }
        var matching = TaskQuery()
        matching.text = search
        matching.properties = [.id]
        let ids = Set(try await client.allTasks(matching).map(\.id))
        return tasks.filter { ids.contains($0.id) }
    }

    private static func pick(
        _ selection: TaskSelection,
        from list: [TaskProperties]
    ) throws(ManagerError) -> [TaskProperties] {
        do {
            return try selection.tasks(of: list)
        } catch {
            throw ManagerError(.noSuchTask, error.description)
        }
    }

    private func selection() throws -> TaskSelection {
        do {
            return try TaskSelection(words)
        } catch {
            throw ValidationError(error.description)
        }
    }

    private static func sort(_ word: String) throws -> TaskQuery.Sort {
        guard let sort = TaskQuery.Sort(rawValue: word) else {
            throw ValidationError("there is no such order")
        }
        return sort
    }
}
