// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownView

/// `idown show`: everything about downloads.
struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows everything about downloads.",
        discussion: """
            With --json a single download given by its ID is printed as an object, and any other \
            selection as an array.

            Examples:
              idown show 7
              idown show failed
              idown show --json 7 | jq -r .ErrorCode
              idown show --format '{Path}' 7
            """
    )

    @OptionGroup var format: FormatOptions

    @OptionGroup var start: StartArguments

    @OptionGroup var color: ColorOption

    @OptionGroup var selection: SelectionArguments

    func run() async throws {
        let selection = try selection.selection()
        try await Service.use(startsService: start.startsService) { client in
            let tasks = try await selection.tasks(client)
            if format.json, let ids = selection.plainIDs, ids.count == 1,
                let task = tasks.first
            {
                return try Output.json(TaskJSON(task))
            }
            guard try !format.print(tasks) else { return }
            let style = color.style(of: .output)
            let room = Terminal.output.width.map { TaskDetails.Room.terminal(width: $0) }
            let blocks = tasks.map { task in
                TaskDetails(task, style: style, room: room ?? .unlimited, time: LocalTime.text)
                    .lines
            }
            try Output.data(lines: Array(blocks.joined(separator: [""])))
        }
    }
}
