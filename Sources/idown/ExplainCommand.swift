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
            For several downloads each line begins with the ID and a tab. If nothing holds a \
            download up, a message on standard error says so.

            Examples:
              idown explain 7
              idown explain waiting failed
            """
    )

    @Flag(help: "Print a JSON object: the reasons by ID.")
    var json = false

    @OptionGroup var selection: SelectionArguments

    func run() async throws {
        try await Service.use { client in
            let selection = try selection.selection()
            let tasks = try await selection.tasks(client)
            var reasons: [String: [String]] = [:]
            for task in tasks {
                do throws(ManagerError) {
                    reasons[task.id] = try await client.explain(task.id)
                } catch {
                    guard selection.passesOver(error, of: task.id) else { throw error }
                }
            }
            guard !json else { return try Output.json(reasons) }
            let isAlone = tasks.count == 1
            try Output.data(
                lines: tasks.flatMap { task in
                    (reasons[task.id] ?? []).map { reason in
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

    /// The number of downloads above which they are counted instead of listed.
    private static let mostTold = 10

    /// Returns the activity of a download without a hold, as in "it is transferring".
    private static func doing(_ task: TaskProperties) -> String {
        task.activity == .none ? task.state.rawValue : task.activity.rawValue
    }
}
