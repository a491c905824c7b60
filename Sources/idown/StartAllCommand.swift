// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// `idown start-all`: puts all paused and failed downloads back into the queue.
struct StartAllCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start-all",
        abstract: "Starts all paused and failed downloads, and prints their number.",
        discussion: """
            Cancelled and completed downloads stay as they are. With --if-pending it only starts \
            the service, which then resumes unfinished downloads and leaves paused ones paused; \
            nothing is printed. The autostart entry does this after login.

            Examples:
              idown start-all
            """
    )

    @Flag(help: "Only start the service, which resumes unfinished downloads by itself.")
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
