// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownView

/// `idown autostart`: whether the session starts the service at login.
struct AutostartCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "autostart",
        abstract: "Goes on with unfinished downloads after login, or only when idown is used.",
        discussion: """
            Changes only your own entry in the autostart folder; the system's stays as it is.

            Examples:
              idown autostart disable
              idown autostart status
            """,
        subcommands: [Enable.self, Disable.self, Status.self]
    )

    struct Enable: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Starts the service after login."
        )

        func run() throws {
            try AutostartCommand.telling { () throws(TextFile.Failure) in
                try AutostartEntry(DesktopFolders()).set(true)
            }
        }
    }

    struct Disable: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Starts the service only when it is used."
        )

        func run() throws {
            try AutostartCommand.telling { () throws(TextFile.Failure) in
                try AutostartEntry(DesktopFolders()).set(false)
            }
        }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints enabled or disabled, and tells which entry says so."
        )

        @Flag(help: "Prints a JSON object: Enabled, and in Entry the file that says so.")
        var json = false

        func run() throws {
            let entry = try AutostartCommand.telling { () throws(TextFile.Failure) in
                try AutostartEntry(DesktopFolders()).effective()
            }
            guard !json else {
                return try Output.json(
                    Report(isEnabled: entry?.isEnabled == true, path: entry?.path ?? "")
                )
            }
            try Output.data(entry?.isEnabled == true ? "enabled" : "disabled")
            Output.talk(entry.map { "as \(CellText($0.path)) says" } ?? "there is no entry")
        }
    }

    /// The status for programs.
    private struct Report: Encodable {
        let isEnabled: Bool
        /// The entry that counts; empty for none.
        let path: String

        enum CodingKeys: String, CodingKey {
            case isEnabled = "Enabled"
            case path = "Entry"
        }
    }

    private static func telling<Value>(
        _ body: () throws(TextFile.Failure) -> Value
    ) throws -> Value {
        do {
            return try body()
        } catch {
            Output.complain(error.description)
            throw ExitStatus.failed.exit
        }
    }
}
