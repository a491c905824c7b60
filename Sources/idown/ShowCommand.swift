// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown show`: everything about one task.
struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows everything about a download.",
        discussion: """
            Examples:
              idown show 7
              idown show --json 7 | jq -r .ErrorCode
            """
    )

    @Flag(help: "Prints a JSON object; its keys are the names of the D-Bus properties.")
    var json = false

    @Argument(help: "The download's ID, as idown list shows it.")
    var id: String

    func validate() throws {
        try IDArgument.check([id])
    }

    func run() async throws {
        try await Service.use { client in
            let task = try await client.getTask(id)
            guard !json else { return try Output.json(TaskJSON(task)) }
            let details = TaskDetails(task, style: Terminal.output.style, time: LocalTime.text)
            try Output.data(lines: details.lines)
        }
    }
}
