// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownView

/// `idown export`: downloads as a text that `idown add -i` reads.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes downloads as a list that idown add -i reads.",
        discussion: """
            Without a selection it writes all unfinished downloads: waiting, downloading, paused \
            and failed. The format is that of aria2's input files; --json writes all properties, and \
            also folders whose names such a list cannot hold: with line ends, tabs or blanks at the end. \
            Request headers, cookies, user names and passwords are left out, because the service \
            does not give them away.

            Examples:
              idown export > downloads.txt
              idown export all --json > downloads.json
              aria2c -i <(idown export failed)
            """
    )

    @OptionGroup var selected: OptionalSelectionArguments

    @Flag(help: "Write JSON; the keys are the names of the D-Bus properties.")
    var json = false

    func run() async throws {
        try await Service.use { client in
            let words = selected.words.isEmpty ? Self.unfinished : selected.words
            let tasks = try await TaskSelection(typed: words).tasks(client)
            guard !json else { return try Output.json(tasks.map { TaskJSON($0) }) }
            try Output.data(lines: DownloadList.lines(of: tasks, for: Terminal.output.reader))
        }
    }

    private static let unfinished = ["waiting", "downloading", "paused", "failed"]
}
