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

            \(ExitStatus.documentation)
            """,
        version: Contract.version,
        subcommands: [
            AddCommand.self,
            GetCommand.self,
            OpenCommand.self,
            ListCommand.self,
            ShowCommand.self,
            PauseCommand.self,
            ResumeCommand.self,
            RetryCommand.self,
            SetURLCommand.self,
            CancelCommand.self,
            RemoveCommand.self,
            StartAllCommand.self,
            PauseAllCommand.self,
            ClearCommand.self,
        ]
    )
}
