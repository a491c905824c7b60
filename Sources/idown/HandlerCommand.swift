// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownView

/// `idown handler`: whether desktops offer idown for web links.
struct HandlerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "handler",
        abstract: "Offers idown under \"Open With\" for http and https links, or stops that.",
        discussion: """
            idown never becomes the default browser: before it is added to the user's \
            mimeapps.list, the present default is written there as your choice, and where there is \
            none, nothing is changed. Disabling takes back exactly what enabling did.

            Examples:
              idown handler enable
              idown handler status
            """,
        subcommands: [Enable.self, Disable.self, Status.self]
    )

    struct Enable: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Offers idown for web links."
        )

        func run() throws { try HandlerCommand.change(to: true) }
    }

    struct Disable: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "No longer offers idown for web links."
        )

        func run() throws { try HandlerCommand.change(to: false) }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints enabled or disabled, and tells what opens web links."
        )

        @Flag(help: "Prints a JSON object: Enabled, and in Standards what opens each kind of link.")
        var json = false

        func run() throws {
            try HandlerCommand.telling {
                let handler = WebHandler(DesktopFolders())
                guard !json else { return try Output.json(try Report(handler)) }
                try Output.data(try handler.isEnabled() ? "enabled" : "disabled")
                for type in WebHandler.types {
                    let standard = handler.standard(for: type) ?? "nothing"
                    Output.talk("\(type) opens with \(CellText(standard))")
                }
            }
        }
    }

    /// The status for programs.
    private struct Report: Encodable {
        let isEnabled: Bool
        /// What opens links of each type without being chosen; empty for nothing.
        let standards: [String: String]

        init(_ handler: WebHandler) throws {
            isEnabled = try handler.isEnabled()
            standards = Dictionary(
                uniqueKeysWithValues: WebHandler.types.map { ($0, handler.standard(for: $0) ?? "") }
            )
        }

        enum CodingKeys: String, CodingKey {
            case isEnabled = "Enabled"
            case standards = "Standards"
        }
    }

    private static func change(to isEnabled: Bool) throws {
        try telling {
            let handler = WebHandler(DesktopFolders())
            if isEnabled {
                if try !handler.isEnabled() { try handler.enable() }
            } else {
                try handler.disable()
            }
        }
    }

    /// Turns what went wrong into words and an exit code.
    private static func telling(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let refusal as WebHandler.Refusal {
            Output.complain(refusal.description)
            throw ExitStatus.failed.exit
        } catch let failure as TextFile.Failure {
            Output.complain(failure.description)
            throw ExitStatus.failed.exit
        }
    }
}
