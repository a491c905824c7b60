// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// `idown clear`: removes all completed downloads from the list.
struct ClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Removes completed downloads from the list, and prints their number.",
        discussion: """
            The files stay where they are.

            Examples:
              idown clear
            """
    )

    @OptionGroup var output: CountOutput

    func run() async throws {
        try await Service.use { client in try output.print(try await client.clearCompleted()) }
    }
}
