// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownView

/// `idown handler`: adds idown to the applications that desktops offer for web links.
struct HandlerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "handler",
        abstract: "Shows or hides idown under \"Open With\" for http and https links.",
        discussion: """
            idown never becomes the default browser: handler enable also records your present \
            default browser as your choice in mimeapps.list. Without a default browser nothing is \
            changed. handler disable undoes exactly what enable did.

            Examples:
              idown handler enable
              idown handler status
            """,
        subcommands: [Enable.self, Disable.self, Status.self]
    )

    struct Enable: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "enable",
            abstract: "Shows idown under \"Open With\" for web links."
        )

        func run() throws { try HandlerCommand.change(to: true) }
    }

    struct Disable: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disable",
            abstract: "Hides idown under \"Open With\" for web links."
        )

        func run() throws { try HandlerCommand.change(to: false) }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Prints enabled or disabled, and which application opens web links."
        )

        @Flag(
            help: "Print a JSON object: Enabled, and in Standards the default application per type."
        )
        var json = false

        func run() throws {
            try Output.reportingErrors {
                let handler = WebHandler(DesktopFolders())
                guard !json else { return try Output.json(try Report(handler)) }
                try Output.data(try handler.isEnabled() ? "enabled" : "disabled")
                for type in WebHandler.types {
                    let application = handler.defaultApplication(for: type) ?? "no application"
                    Output.talk("\(type) opens with \(CellText(application))")
                }
            }
        }
    }

    /// The status as JSON.
    private struct Report: Encodable {
        let isEnabled: Bool
        /// The default application of each type; an empty text if there is none.
        let defaults: [String: String]

        init(_ handler: WebHandler) throws {
            isEnabled = try handler.isEnabled()
            defaults = Dictionary(
                uniqueKeysWithValues: WebHandler.types.map {
                    ($0, handler.defaultApplication(for: $0) ?? "")
                }
            )
        }

        enum CodingKeys: String, CodingKey {
            case isEnabled = "Enabled"
            case defaults = "Standards"
        }
    }

    private static func change(to isEnabled: Bool) throws {
        try Output.reportingErrors {
            let handler = WebHandler(DesktopFolders())
            if isEnabled {
                if try !handler.isEnabled() { try handler.enable() }
            } else {
                try handler.disable()
            }
        }
    }
}
