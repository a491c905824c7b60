// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// The command line: one subcommand a file, all of them thin clients of the service.
@main
struct Idown: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "idown",
        abstract: "Downloads files with the session's download service.",
        discussion: """
            The service starts when it is first needed and goes on when this command has ended. \
            What it prints on standard output is data; everything else goes to standard error.
            IDOWN_TIMEOUT is how many seconds to wait for an answer of the service, 60 if not \
            given. NO_COLOR and CLICOLOR_FORCE are heeded.

            Downloads are named by IDs such as 7, ranges such as 3-7, states such as failed, \
            or all.

            \(ExitStatus.documentation)
            """,
        version: Contract.version,
        subcommands: [
            GetCommand.self,
            AddCommand.self,
            OpenCommand.self,
            ListCommand.self,
            WatchCommand.self,
            ShowCommand.self,
            ExplainCommand.self,
            WaitCommand.self,
            FollowCommand.self,
            PauseCommand.self,
            ResumeCommand.self,
            RetryCommand.self,
            CancelCommand.self,
            RemoveCommand.self,
            EditCommand.self,
            SetURLCommand.self,
            StartAllCommand.self,
            PauseAllCommand.self,
            ClearCommand.self,
            ExportCommand.self,
            ConfigCommand.self,
            DoctorCommand.self,
            LoginCommand.self,
            LogoutCommand.self,
            HandlerCommand.self,
            AutostartCommand.self,
        ]
    )
}
