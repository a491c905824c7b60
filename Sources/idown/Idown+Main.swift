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
                try checkText()
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

    /// What is no text would be taken for another one: another folder, another URL.
    private static func checkText() throws {
        for place in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[place],
                String(validatingCString: argument) == nil
            else { continue }
            throw ValidationError("argument \(place) is no text in UTF-8")
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
