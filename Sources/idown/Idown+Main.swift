// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DBus
import Glibc
import iDownView

extension Idown {
    /// Runs the command that the arguments name; its errors are told in this program's own form.
    static func main() async {
        StandardStreams.fill()
        // As libdbus does it once it is there: a closed pipe is an error of the writing.
        signal(SIGPIPE, SIG_IGN)
        do {
            try await ByteCount.$decimalSign.withValue(UserLocale.adopt()) {
                try checkHelp(CommandLine.arguments.dropFirst())
                var command = try await asyncParseAsRoot()
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
            }
        } catch {
            tell(error)
            Glibc.exit(exitCode(for: error).rawValue)
        }
    }

    /// What was asked for goes to standard output, as help, version and completions are.
    private static func tell(_ error: any Error) {
        let text = fullMessage(for: error)
        guard !text.isEmpty else { return }
        guard exitCode(for: error) != .success else {
            do { try Output.data(text) } catch { Glibc.exit(exitCode(for: error).rawValue) }
            return
        }
        let prefix = "Error: "
        Output.talk("idown: \(text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : text[...])")
    }
}
