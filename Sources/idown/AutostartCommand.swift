// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownView

/// `idown autostart`: sets whether the session starts the service at login.
struct AutostartCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "autostart",
        abstract: "Sets whether unfinished downloads continue after login.",
        discussion: """
            Without autostart they continue as soon as idown is used. Only your own entry in the \
            autostart folder is changed, never the system's.

            Examples:
              idown autostart disable
              idown autostart status
            """,
        subcommands: [Enable.self, Disable.self, Status.self]
    )

    struct Enable: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "enable",
            abstract: "Starts the service after login."
        )

        func run() throws {
            try Output.reportingErrors { try AutostartEntry(DesktopFolders()).set(true) }
        }
    }

    struct Disable: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disable",
            abstract: "Starts the service only when it is used."
        )

        func run() throws {
            try Output.reportingErrors { try AutostartEntry(DesktopFolders()).set(false) }
        }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Prints enabled or disabled, and the autostart entry that decides it."
        )

        @Flag(help: "Print a JSON object: Enabled, and in Entry the file that decides it.")
        var json = false

        func run() throws {
            let entry = try Output.reportingErrors {
                try AutostartEntry(DesktopFolders()).effective()
            }
            guard !json else {
                return try Output.json(
                    Report(isEnabled: entry?.isEnabled == true, path: entry?.path ?? "")
                )
            }
            try Output.data(entry?.isEnabled == true ? "enabled" : "disabled")
            Output.talk(entry.map { "set by \(CellText($0.path))" } ?? "no autostart entry found")
        }
    }

    /// The status as JSON.
    private struct Report: Encodable {
        let isEnabled: Bool
        /// The entry that decides; empty if there is none.
        let path: String

        enum CodingKeys: String, CodingKey {
            case isEnabled = "Enabled"
            case path = "Entry"
        }
    }
}
