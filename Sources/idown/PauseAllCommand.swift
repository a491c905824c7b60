// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// `idown pause-all`: pauses all waiting and running downloads.
struct PauseAllCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause-all",
        abstract: "Pauses all waiting and running downloads, and prints their number.",
        discussion: """
            Their partial files are kept. To continue all of them, use: idown start-all

            Examples:
              idown pause-all
            """
    )

    @OptionGroup var output: CountOutput

    func run() async throws {
        try await Service.use { client in try output.print(try await client.pauseAll()) }
    }
}
