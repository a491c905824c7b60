// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// `idown start-all`: puts all that is paused or failed back into the queue.
struct StartAllCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start-all",
        abstract: "Starts everything paused or failed, and prints how many that were.",
        discussion: """
            What is cancelled or completed stays as it is. With --if-pending the service is only \
            started, so that unfinished downloads go on by themselves and what you paused stays \
            paused; nothing is printed. The session's autostart entry does that after login.

            Examples:
              idown start-all
            """
    )

    @Flag(help: "Only starts the service, for the downloads that go on by themselves.")
    var ifPending = false

    @OptionGroup var output: CountOutput

    func run() async throws {
        try await Service.use { client in
            if ifPending {
                _ = try await client.version()
            } else {
                try output.print(try await client.startAll())
            }
        }
    }
}
