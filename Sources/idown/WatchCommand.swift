// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown watch`: the live list.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows the list of downloads live, and steers it.",
        discussion: """
            Arrows move the cursor. Enter pauses what runs, resumes what is paused and retries \
            what failed; m opens a menu with all that can be done; e begins edit mode, in which \
            Space chooses several; a adds a URL, typed or pasted; / searches, f filters, o sorts; \
            ? shows all keys, q ends. The downloads are the service's: they go on.

            Downloading is green, paused blue, failed red, each with a sign of its own too.

            Examples:
              idown watch
              idown watch --mouse
            """
    )

    @Flag(help: "Clicks and the wheel work; the terminal itself selects with Shift then.")
    var mouse = false

    @OptionGroup var color: ColorOption

    func validate() throws {
        guard Terminal.input.isTerminal, Terminal.output.isTerminal else {
            throw ValidationError("watch needs a terminal; in a pipe there is: idown follow")
        }
    }

    func run() async throws {
        try await Service.use { client in
            let end = try await ListWatch.run(
                client,
                isColored: color.style(of: .output).isColored,
                usesMouse: mouse
            )
            switch end {
            case .quit: return
            case .signal(let number): throw ExitCode(128 + number)
            case .failed(let text):
                Output.complain(text)
                throw ExitStatus.failed.exit
            case .lost(let text):
                Output.complain(text)
                throw ExitStatus.unreachable.exit
            }
        }
    }
}
