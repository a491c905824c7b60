// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownView

/// `idown watch`: the live list.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows the downloads live and lets you control them.",
        discussion: """
            Arrow keys move the cursor. Enter pauses, resumes or retries the download under the \
            cursor, or opens its finished file. i shows its details, w shows the finished file in \
            its folder, m opens a menu with everything that you can do with it. Space selects \
            several downloads, a adds a URL, / searches, f filters, o sorts, ? shows all keys, q \
            quits. The downloads go on after that.

            A downloading row is green, a paused one blue, a failed one red; a sign before the \
            name tells the same.

            Examples:
              idown watch
              idown watch --mouse
            """
    )

    @Flag(help: "Use mouse clicks and the wheel; hold Shift to select text.")
    var mouse = false

    @OptionGroup var color: ColorOption

    func validate() throws {
        guard Terminal.input.isTerminal, Terminal.output.isTerminal else {
            throw ValidationError("watch needs a terminal; without one, use idown follow")
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
