// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// `idown clear`: takes all completed tasks off the list.
struct ClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Takes completed downloads off the list, and prints how many that were.",
        discussion: """
            Their files stay where they are.

            Examples:
              idown clear
            """
    )

    @OptionGroup var output: CountOutput

    func run() async throws {
        try await Service.use { client in try output.print(try await client.clearCompleted()) }
    }
}
