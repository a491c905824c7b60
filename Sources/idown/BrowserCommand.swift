// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBrowser
import iDownView

/// `idown browser`: lets browsers hand their downloads over.
struct BrowserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browser",
        abstract: "Lets browsers hand their downloads over.",
        discussion: """
            A browser needs two things: idown's extension for Chromium and Firefox, and a manifest \
            that names idown as the program which the extension may start. The package \
            idown-browser brings both for all users; Chrome, Edge, Brave and Vivaldi have to load \
            the extension from a folder, which idown browser status names. idown browser enable \
            puts the manifest alone into your own folders; nothing of another user or of the system \
            is changed.

            Browsers in a sandbox, from Flatpak or Snap, cannot start idown.

            Which downloads are handed over is set with idown config: browser-hand-over, \
            browser-least-size, browser-types, browser-leave-types, browser-hosts, \
            browser-leave-hosts and browser-private.

            Examples:
              idown browser status
              idown browser enable
              idown config browser-hand-over off
            """,
        subcommands: [Enable.self, Disable.self, Status.self, Manifest.self]
    )

    struct Enable: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "enable",
            abstract: "Lets idown's extension start idown in your browsers."
        )

        func run() throws {
            guard let program = ProgramPath.own else {
                Output.complain("the path of idown is not known, because /proc is not mounted")
                throw ExitStatus.failed.exit
            }
            let setup = BrowserSetup(DesktopFolders())
            let (written, failure) = setup.enable(program)
            for path in written { Output.talk("written: \(CellText(path))") }
            let reports = setup.reports()
            if reports.isEmpty { Output.talk("no browser was found that idown knows") }
            for report in reports where !report.isReady { Output.talk(report.text) }
            try Output.reportingErrors { if let failure { throw failure } }
        }
    }

    struct Disable: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disable",
            abstract: "Removes from your folders what enable has put there.",
            discussion: """
                What a package has installed for all users stays. To keep downloads in your \
                browsers all the same, use: idown config browser-hand-over off
                """
        )

        func run() throws {
            let setup = BrowserSetup(DesktopFolders())
            let removed = try Output.reportingErrors {
                try setup.disable()
            }
            for path in removed { Output.talk("removed: \(CellText(path))") }
            guard setup.reports().contains(where: \.isReady) else { return }
            Output.talk(
                "what is installed for all users stays; to keep downloads in your browsers, use:"
                    + " idown config browser-hand-over off"
            )
        }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Prints what is in place for each browser."
        )

        @Flag(
            help: """
                Print a JSON array: Browser, Kind (system, flatpak or snap), and the paths Host, \
                Extension and Folder, from which the extension has to be loaded by hand.
                """
        )
        var json = false

        func run() throws {
            let reports = BrowserSetup(DesktopFolders()).reports()
            guard !json else { return try Output.json(reports) }
            if reports.isEmpty { Output.talk("no browser was found that idown knows") }
            try Output.data(lines: reports.map(\.text))
        }
    }

    /// Prints the manifest that `make install` puts in place for all users.
    struct Manifest: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "manifest",
            abstract: "Prints the manifest that lets idown's extension start a program.",
            shouldDisplay: false
        )

        @Argument(help: "The browsers that read it: chromium or mozilla.")
        var family: Browser.Family

        @Argument(help: "The absolute path of idown.")
        var program: String

        func run() throws {
            try Output.data(lines: [String(family.manifest(of: program).dropLast())])
        }
    }
}

extension Browser.Family: ExpressibleByArgument {}
