// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown export`: the list of downloads as a text that `idown add -i` reads.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes downloads as a list for: idown add -i.",
        discussion: """
            Without a selection it is everything unfinished: waiting, downloading, paused and \
            failed. The form is that of aria2's input files; --json gives whole tasks. Mirrors, \
            request headers, user names and passwords are not told by the service, and so are \
            not in the list.

            Examples:
              idown export > downloads.txt
              idown export all --json > downloads.json
              aria2c -i <(idown export failed)
            """
    )

    @Argument(
        help: ArgumentHelp(
            "IDs, ranges such as 3-7, states, or all.",
            valueName: "selection"
        ),
        completion: TaskCompletion.selections
    )
    var words: [String] = []

    @Flag(help: "Writes JSON; its keys are the names of the D-Bus properties.")
    var json = false

    func validate() throws {
        do {
            _ = try TaskSelection(words)
        } catch {
            throw ValidationError(error.description)
        }
    }

    func run() async throws {
        try await Service.use { client in
            let words = words.isEmpty ? Self.unfinished : words
            let tasks = try await TaskSelection(words).tasks(client)
            guard !json else { return try Output.json(tasks.map { TaskJSON($0) }) }
            try Output.data(lines: DownloadList.lines(of: tasks, for: Terminal.output.reader))
        }
    }

    private static let unfinished = ["waiting", "downloading", "paused", "failed"]
}
