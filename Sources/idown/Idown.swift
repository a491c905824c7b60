// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// The command line: one subcommand a file, each a thin client of the service.
@main
struct Idown: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "idown",
        abstract: "Downloads files with the session's download service.",
        discussion: """
            The service, idownd, starts when it is needed and downloads in the background; this \
            command tells it what to do and shows what it does. Data goes to standard output, \
            messages go to standard error.

            Downloads are named by their IDs (7), ranges of IDs (3-7), states (failed), or all. \
            The states are waiting, downloading, paused, completed, failed and cancelled.

            A URL without a scheme, such as example.org/disk.iso, gets https:// before it if its \
            host has a dot, is localhost or is an address, and no file has this name.

            IDOWN_TIMEOUT is the number of seconds to wait for an answer of the service (default: \
            60), and of the session bus (at most 25). NO_COLOR and CLICOLOR_FORCE switch colors off and on.

            Examples:
              idown get https://example.org/disk.iso
              idown add https://example.org/1.ogg https://example.org/2.ogg
              idown list
              idown watch

            \(ExitStatus.documentation)
            """,
        version: Contract.version,
        groupedSubcommands: [
            CommandGroup(
                name: "Download",
                subcommands: [
                    GetCommand.self, AddCommand.self, OpenCommand.self, RevealCommand.self,
                ]
            ),
            CommandGroup(
                name: "Look",
                subcommands: [
                    ListCommand.self, WatchCommand.self, ShowCommand.self, ExplainCommand.self,
                    VerifyCommand.self, WaitCommand.self, FollowCommand.self,
                    ExportCommand.self,
                ]
            ),
            CommandGroup(
                name: "Change",
                subcommands: [
                    PauseCommand.self, ResumeCommand.self, RetryCommand.self, CancelCommand.self,
                    RemoveCommand.self, EditCommand.self, StartAllCommand.self,
                    PauseAllCommand.self, ClearCommand.self,
                ]
            ),
            CommandGroup(
                name: "Set Up",
                subcommands: [
                    ConfigCommand.self, ServiceCommand.self, DoctorCommand.self,
                    LoginCommand.self, LogoutCommand.self, HandlerCommand.self,
                    AutostartCommand.self, BrowserCommand.self, BrowserHostCommand.self,
                ]
            ),
        ]
    )
}
