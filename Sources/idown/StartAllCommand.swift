// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownBus

/// `idown start-all`: puts all paused and failed downloads back into the queue.
struct StartAllCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start-all",
        abstract: "Starts all paused and failed downloads, and prints their number.",
        discussion: """
            Cancelled and completed downloads stay as they are. With --if-pending it only starts \
            the service, which then resumes unfinished downloads and leaves paused ones paused; \
            nothing is printed, and without a list nothing is started. The autostart entry does \
            this after login.

            Examples:
              idown start-all
            """
    )

    @Flag(help: "Only start the service, which resumes unfinished downloads by itself.")
    var ifPending = false

    @OptionGroup var output: CountOutput

    func validate() throws {
        if ifPending, output.json {
            throw ValidationError("--if-pending prints nothing: no --json")
        }
    }

    func run() async throws {
        // The autostart entry runs for every user, and most of them have never used idown.
        let list = DesktopFolders().stateHome + "/idown/tasks.sqlite"
        if ifPending, access(list, F_OK) != 0, errno == ENOENT { return }
        try await Service.use { client in
            if ifPending {
                _ = try await client.version()
            } else {
                try output.print(try await client.startAll())
            }
        }
    }
}
