// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

extension Idown {
    /// Runs the command that the arguments name; its errors are told in this program's own form.
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            tell(error)
            Glibc.exit(exitCode(for: error).rawValue)
        }
    }

    /// Leaves help and version to the parser, which knows where they go.
    private static func tell(_ error: any Error) {
        let text = fullMessage(for: error)
        guard exitCode(for: error) != .success else { exit(withError: error) }
        guard !text.isEmpty else { return }
        let prefix = "Error: "
        Output.talk("idown: \(text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : text[...])")
    }
}
