// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown explain`: why downloads do not move.
struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Tells why downloads do not move.",
        discussion: """
            Prints a reason a line, such as "queue: 3 of 3 running" or "retry in 12 s (HTTP 503)". \
            Unless a single ID is given, each line begins with the ID and a tab. If nothing holds \
            a download up, a message on standard error says so.

            With --history it prints what happened in the attempts of a download and what was \
            decided: time, connection, event and details. The service keeps that for downloads that \
            are not completed, until it ends.

            With --json the reasons are codes with values, which ExplainCodes of the D-Bus interface \
            lists.

            Examples:
              idown explain 7
              idown explain waiting failed
              idown explain --history 7
            """
    )

    @Flag(help: "Print what happened in the attempts.")
    var history = false

    @Flag(help: "Print a JSON object: the codes of the reasons, or the events, by ID.")
    var json = false

    @OptionGroup var selection: SelectionArguments

    func run() async throws {
        let selection = try selection.selection()
        try await Service.use { client in
            if history { try await client.require(.history, to: "tell the history of downloads") }
            if json, !history { try await client.require(.reasons, to: "tell reasons as JSON") }
            let tasks = try await selection.tasks(client)
            guard !history else { return try await tellHistory(of: tasks, selection, client) }
            guard !json else { return try await tellCodes(of: tasks, selection, client) }
            // A task that changes its state while the list is read in pages may come twice.
            let reasons = Dictionary(
                try await Self.ask(about: tasks, selection) { id throws(ManagerError) in
                    try await client.explain(id)
                },
                uniquingKeysWith: { first, _ in first }
            )
            let isAlone = selection.plainIDs?.count == 1
            try Output.data(
                lines: tasks.flatMap { task in
                    let summary = TaskSummary(task)
                    let move = summary.keepsFileInPlace ? [summary.reason.description] : []
                    return ((reasons[task.id] ?? []) + move).map { reason in
                        let text = CellText(reason).description
                        return isAlone ? text : "\(task.id)\t\(text)"
                    }
                }
            )
            let healthy = tasks.filter { reasons[$0.id] == [] }
            guard healthy.count <= Self.mostTold else {
                return Output.talk("Nothing holds up \(healthy.count) downloads.")
            }
            for task in healthy {
                Output.talk("Nothing holds up download \(task.id): it is \(Self.doing(task)).")
            }
        }
    }

    private func tellCodes(
        of tasks: [TaskProperties],
        _ selection: TaskSelection,
        _ client: ManagerClient
    ) async throws {
        let reasons = try await Self.ask(about: tasks, selection) { id throws(ManagerError) in
            try await client.explainCodes(id)
        }
        let objects = reasons.map { ($0.id, $0.answer.map { ReasonJSON($0) }) }
        try Output.json(Dictionary(objects) { first, _ in first })
    }

    /// Asks about each task, and passes over those that were removed since the list was read.
    private static func ask<Answer: Sendable>(
        about tasks: [TaskProperties],
        _ selection: TaskSelection,
        _ call: @escaping @Sendable (String) async throws(ManagerError) -> Answer
    ) async throws(ManagerError) -> [(id: String, answer: Answer)] {
        var answers: [(id: String, answer: Answer)] = []
        try await CallsAtOnce.make(about: tasks.map(\.id), call) {
            id,
            answer throws(ManagerError) in
            do throws(ManagerError) {
                answers.append((id, try answer.get()))
            } catch {
                guard selection.passesOver(error, of: id) else { throw error }
            }
        }
        return answers
    }

    private func tellHistory(
        of tasks: [TaskProperties],
        _ selection: TaskSelection,
        _ client: ManagerClient
    ) async throws {
        let entries = try await Self.ask(about: tasks, selection) { id throws(ManagerError) in
            try await client.history(of: id)
        }
        if json {
            let objects = entries.map { ($0.id, $0.answer.map { HistoryJSON($0) }) }
            return try Output.json(Dictionary(objects) { first, _ in first })
        }
        let isAlone = selection.plainIDs?.count == 1
        try Output.data(
            lines: entries.flatMap { id, entries in
                entries.map { entry in
                    let text = HistoryText(entry, time: LocalTime.precise).description
                    return isAlone ? text : "\(id)\t\(text)"
                }
            }
        )
        for (id, entries) in entries where entries.isEmpty {
            Output.talk("There is no history of download \(id).")
        }
    }

    /// The number of downloads above which they are counted instead of listed.
    private static let mostTold = 10

    /// Returns the activity of a download without a hold, as in "it is transferring".
    private static func doing(_ task: TaskProperties) -> String {
        task.activity == .none ? task.state.rawValue : task.activity.rawValue
    }
}
