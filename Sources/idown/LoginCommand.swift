// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DBus
import Secrets
import iDownBus
import iDownView

/// `idown login`: keeps a name and a password for a server.
struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Keeps a name and a password for a server in the desktop's keyring.",
        discussion: """
            They are tried on the URL first, and not kept if the server refuses them. They serve \
            downloads from the URL's scheme, host and port, never another one's, and no download \
            that a link or a sandboxed application added. A download that failed for want \
            of them goes on with: idown retry ID. Without a terminal the password is read from \
            standard input, after the name where that is not given.

            Examples:
              idown login https://example.org/
              pass show example | idown login --user me https://example.org/
            """
    )

    @Option(name: [.short, .long], help: ArgumentHelp("The user's name.", valueName: "name"))
    var user: String?

    @Flag(help: "Keeps them without trying them.")
    var untried = false

    @Argument(help: ArgumentHelp("A URL on the server.", valueName: "url"))
    var url: String

    func run() async throws {
        let place = try ServerArgument(url)
        // Before anybody types in vain.
        let isOpen = try await Keyring.use { logins throws(BusError) in try await logins.isOpen }
        guard isOpen else { throw Self.locked() }
        let user = try user ?? place.user ?? Prompt.line("User name at \(place.server): ")
        guard !user.isEmpty else { throw ValidationError("the user's name is empty") }
        let shown = CellText(user).cut(to: 60)
        let password = try Prompt.secret("Password of \(shown) at \(place.server): ")
        if !untried { try attempt(user, password, at: place.server) }
        let isKept = try await Keyring.use { logins throws(BusError) in
            try await logins.keep(Login(user: user, password: password), for: place.server)
        }
        guard isKept else { throw Self.locked() }
    }

    /// Ends the command where the server refuses them; says so where nobody could ask it.
    private func attempt(
        _ user: String,
        _ password: String,
        at server: KeptLogins.Server
    ) throws {
        let input = [url, user, password]
        guard !input.contains(where: { $0.utf8.contains(UInt8(ascii: "\n")) }),
            let answer = ServiceProgram.ask("--try-login", input: input.joined(separator: "\n"))
        else {
            Output.talk("kept without a try: idownd is neither beside idown nor in PATH")
            return
        }
        let parts = answer.split(separator: "\t", maxSplits: 1).map { "\(CellText(String($0)))" }
        switch parts.first {
        case "accepted": return
        case "refused":
            Output.complain("\(server) refuses this name and password: nothing is kept")
            throw ExitStatus.serverFailure.exit
        default:
            let reason = parts.count > 1 ? parts[1] : "the URL cannot be asked for"
            Output.talk("kept without a proof that they are right: \(reason)")
        }
    }

    private static func locked() -> any Error {
        Output.complain("the keyring is locked, or there is none by default: unlock it first")
        return ExitStatus.failed.exit
    }
}
