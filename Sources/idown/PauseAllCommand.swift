// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// `idown pause-all`: pauses all that waits or downloads.
struct PauseAllCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause-all",
        abstract: "Pauses everything that waits or downloads, and prints how many that were.",
        discussion: """
            The bytes are kept; idown start-all goes on with them.

            Examples:
              idown pause-all
            """
    )

    @OptionGroup var output: CountOutput

    func run() async throws {
        try await Service.use { client in try output.print(try await client.pauseAll()) }
    }
}
