// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown list`: all tasks, or those in some states.
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the downloads.",
        discussion: """
            In the order of adding. Downloading stands in green, paused in blue, failed in red. On \
            a terminal the lines are cut to its width; in a pipe they are whole.

            Examples:
              idown list
              idown list --state failed --state paused
              idown list --json | jq -r '.[] | select(.State == "completed") | .Path'
            """
    )

    @Option(
        help: ArgumentHelp(
            "Only downloads in this state; may be given several times.",
            discussion: TaskProperties.State.known.map(\.rawValue).joined(separator: ", ")
        ),
        completion: .list(TaskProperties.State.known.map(\.rawValue))
    )
    var state: [String] = []

    @Flag(help: "Prints a JSON array; its keys are the names of the D-Bus properties.")
    var json = false

    func validate() throws {
        let known = TaskProperties.State.known.map(\.rawValue)
        if let unknown = state.first(where: { !known.contains($0) }) {
            throw ValidationError(
                "there is no state \(unknown); there are \(known.joined(separator: ", "))"
            )
        }
    }

    func run() async throws {
        try await Service.use { client in
            var tasks = try await client.listTasks()
            if !state.isEmpty { tasks.removeAll { !state.contains($0.state.rawValue) } }
            guard !json else { return try Output.json(tasks.map(TaskJSON.init)) }
            guard !tasks.isEmpty else { return Output.talk("No downloads.") }
            let terminal = Terminal.output
            let table = TaskTable(tasks, width: terminal.width, style: terminal.style)
            try Output.data(lines: table.lines)
        }
    }
}
