// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown show`: everything about tasks.
struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows everything about downloads.",
        discussion: """
            As JSON a download named by its ID is an object, a selection an array.

            Examples:
              idown show 7
              idown show failed
              idown show --json 7 | jq -r .ErrorCode
              idown show --format '{Path}' 7
            """
    )

    @OptionGroup var format: FormatOptions

    @OptionGroup var color: ColorOption

    @OptionGroup var selection: SelectionArguments

    func run() async throws {
        try await Service.use { client in
            let tasks = try await selection.tasks(client)
            // One that was named stands alone; a selection is an array, whatever it holds.
            if format.json, let ids = try selection.selection().plainIDs, ids.count == 1,
                let task = tasks.first
            {
                return try Output.json(TaskJSON(task))
            }
            guard try !format.print(tasks) else { return }
            let style = color.style(of: .output)
            let blocks = tasks.map { TaskDetails($0, style: style, time: LocalTime.text).lines }
            try Output.data(lines: Array(blocks.joined(separator: [""])))
        }
    }
}
