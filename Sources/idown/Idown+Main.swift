// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DBus
import Glibc
import iDownBrowser
import iDownBus
import iDownSettings
import iDownView

extension Idown {
    /// Runs the command that the arguments name, and tells its errors in this program's own form.
    static func main() async {
        StandardStreams.fill()
        // Makes a write to a closed pipe fail instead of ending the process, as libdbus does later.
        signal(SIGPIPE, SIG_IGN)
        do {
            try await ByteCount.$decimalSign.withValue(UserLocale.adopt()) {
                try checkText()
                let words = CommandLine.arguments.dropFirst()
                // A browser's manifest names a program, and cannot give it a command.
                if BrowserExtension.isCall(words) { return try await BrowserHost.run(words) }
                guard words.first != "--version" else {
                    return try Output.data(lines: await versions())
                }
                try checkCommand(words)
                var command = try await asyncParseAsRoot(try separated(words))
                do {
                    try Service.checkPatience()
                    if var command = command as? any AsyncParsableCommand {
                        try await command.run()
                    } else {
                        try command.run()
                    }
                } catch let mistake as ValidationError {
                    // ArgumentParser would show the usage of `idown` and not of the command.
                    Output.complain(mistake.message)
                    throw ExitStatus.usage.exit
                }
            }
        } catch {
            tell(error)
            Glibc.exit(exitCode(for: error).rawValue)
        }
    }

    /// Refuses arguments that are not UTF-8: read as text they would name another folder or URL.
    private static func checkText() throws {
        for place in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[place],
                String(validatingCString: argument) == nil
            else { continue }
            throw ValidationError("argument \(place) is not text in UTF-8")
        }
    }

    /// Options that would be read as `-d`, `-e`, `-i`, `-o` or `-u` with a value if they had one dash.
    private static let longNames = [
        "-directory", "-dry-run", "-expected-size", "-input-file", "-on-existing", "-output",
        "-untried", "-url", "-user", "-user-agent",
    ]

    /// Returns the words with a `=` before the value of a short option, `-n3`.
    ///
    /// ArgumentParser would split such a word at the first `=`, which cookies and URLs have. A value of
    /// its own must not begin with a dash.
    private static func separated(_ words: some Sequence<String>) throws -> [String] {
        var isOption = true
        return try words.map { word in
            if word == "--" { isOption = false }
            let name = String(word.prefix { $0 != "=" })
            if isOption, longNames.contains(name) {
                throw ValidationError("there is no option \(name); did you mean -\(name)?")
            }
            let (option, value) = (word.prefix(2), word.dropFirst(2))
            guard isOption, option.first == "-", let letter = option.last,
                "AHbdeinou".contains(letter), let first = value.first, first != "="
            else { return word }
            return "\(option)=\(value)"
        }
    }

    /// Writes help, versions and completion scripts to standard output, and errors to standard
    /// error.
    private static func tell(_ error: any Error) {
        let text = fullMessage(for: error)
        guard !text.isEmpty else { return }
        guard exitCode(for: error) != .success else {
            do { try Output.data(commandsFirst(text)) } catch {
                Glibc.exit(exitCode(for: error).rawValue)
            }
            return
        }
        let prefix = "Error: "
        var lines = text.dropFirst(text.hasPrefix(prefix) ? prefix.count : 0)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if let advice = lines.first.flatMap(advice) { lines[0] = advice }
        Output.talk("idown: \(lines.joined(separator: "\n"))")
    }
}

// Options that are not.
extension Idown {
    /// What idown has for options of wget, curl or aria2 that mean the same in all of them.
    private static let ways = [
        "-O": "use --output NAME", "--out": "use --output NAME", "-P": "use --directory FOLDER",
        "--dir": "use --directory FOLDER", "-i": "use idown add --input-file FILE",
        "-u": "use idown login URL", "--user": "use idown login URL",
        "-x": "use --connections NUMBER for several connections, idown config proxy for a proxy",
        "-L": "idown always follows redirects",
        "-k": "idown always checks certificates",
        "--no-check-certificate": "idown always checks certificates",
    ]

    /// Returns a message in place of ArgumentParser's about an unknown option; nil for other
    /// messages, and for options that no such program has.
    private static func advice(for message: String) -> String? {
        guard ["get", "add"].contains(CommandLine.arguments.dropFirst().first),
            let name = message.firstMatch(of: /^Unknown option '([^']+)'/)?.1,
            let way = ways[String(name)]
        else { return nil }
        return "there is no option \(name): \(way)"
    }
}

// Help.
extension Idown {
    /// Moves the exit codes after the commands, which most readers of the help look for.
    private static func commandsFirst(_ help: String) -> String {
        guard let start = help.firstRange(of: "\n\n" + ExitStatus.heading)?.lowerBound,
            let end = help[start...].firstRange(of: "\n\nUSAGE:")?.lowerBound
        else { return help }
        return String(help[..<start] + help[end...] + help[start..<end])
    }
}

// Words that are not commands.
extension Idown {
    private static let helpName = "help"

    /// Verbs of earlier versions, and the commands that replace them.
    private static let formerVerbs = ["set-url": "edit ID --url URL"]

    /// Verbs of other programs, and the commands that do their work here.
    private static let foreignVerbs = [
        "delete": "remove ID", "download": "get URL", "status": "list", "start": "resume ID",
        "stop": "pause ID",
    ]

    /// Refuses a word in a command's place that is not one, and suggests what was probably meant.
    ///
    /// ArgumentParser calls it an unexpected argument; and `help` with a word that is not a
    /// command shows the whole help and ends with 0.
    ///
    /// - Parameter words: The arguments without the program's name.
    /// - Throws: ValidationError, which names the word.
    static func checkCommand(_ words: some Collection<String>) throws {
        var command: any ParsableCommand.Type = Idown.self
        let asksHelp = words.first == helpName
        let path = words.dropFirst(asksHelp ? 1 : 0).prefix { asksHelp || !$0.hasPrefix("-") }
        for word in path where !word.hasPrefix("-") {
            if command == Idown.self, word == helpName { return }
            let known = command.configuration.subcommands
            // The words after a command are its own arguments.
            if known.isEmpty, !asksHelp { return }
            let next = known.first {
                $0._commandName == word || $0.configuration.aliases.contains(word)
            }
            guard let next else { throw ValidationError(unknown(word, known)) }
            command = next
        }
    }

    private static func unknown(_ word: String, _ known: [any ParsableCommand.Type]) -> String {
        let shown = CellText(ShownURL(word).description).cut(to: 60)
        if let successor = formerVerbs[word] {
            return "there is no command '\(shown)' any more; use: idown \(successor)"
        }
        if known.contains(where: { $0 == GetCommand.self }), let way = foreignVerbs[word] {
            return "there is no command '\(shown)'; use: idown \(way)"
        }
        if word.contains("://") {
            return "a URL needs a command before it: idown get \(shown)"
        }
        let names = known.flatMap { [$0._commandName] + $0.configuration.aliases }
        let suggestion = Spelling.nearest(to: word, among: names)
            .map { "; did you mean '\($0)'?" }
        return "there is no command '\(shown)'" + (suggestion ?? "; see: idown --help")
    }
}

// `--version`.
extension Idown {
    /// Returns the version of this command and, if the service runs, its version on a second line.
    private static func versions() async -> [String] {
        let own = "idown \(Contract.version)"
        if let client = try? await ManagerClient.connect(
            patience: .seconds(5),
            startsService: false
        ) {
            let isRunning = (try? await client.isRunning()) == true
            let version = isRunning ? try? await client.version() : nil
            await client.close()
            if let version { return [own, "idownd \(CellText(version)) (running)"] }
            if isRunning { return [own, "idownd (does not answer)"] }
        }
        guard let installed = ServiceProgram.ask("--version") else {
            return [own, "idownd is not installed beside idown or in PATH"]
        }
        return [own, "\(CellText(installed)) (not running)"]
    }
}
