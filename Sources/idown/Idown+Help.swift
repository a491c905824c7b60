// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

extension Idown {
    /// Refuses `help` for what is no command.
    ///
    /// ArgumentParser shows the whole help then and ends with 0, as if nothing were wrong.
    ///
    /// - Parameter words: What follows the program's name.
    /// - Throws: ValidationError, which names the word.
    static func checkHelp(_ words: some Collection<String>) throws {
        guard words.first == helpName else { return }
        var command: any ParsableCommand.Type = Idown.self
        for word in words.dropFirst() where !word.hasPrefix("-") {
            if command == Idown.self, word == helpName { return }
            let next = command.configuration.subcommands.first { $0._commandName == word }
            guard let next else { throw ValidationError("there is no command '\(word)'") }
            command = next
        }
    }

    private static let helpName = "help"
}
