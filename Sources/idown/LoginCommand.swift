// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DBus
import Secrets
import iDownView

/// `idown login`: stores a name and a password for a server.
struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Stores a name and password for a server in the desktop's keyring.",
        discussion: """
            They are tried on the URL first, and not stored if the server refuses them. They are \
            used for downloads from this scheme, host and port only, and never for a download that \
            a link or a sandboxed application added. To retry a download that failed without them, \
            use: idown retry ID

            Without a terminal the password is read from standard input, and before it the name, \
            if --user does not give it.

            Examples:
              idown login https://example.org/
              pass show example | idown login --user me https://example.org/
            """
    )

    @Option(name: [.short, .long], help: ArgumentHelp("The user's name.", valueName: "name"))
    var user: String?

    @Flag(help: "Store them without trying them.")
    var untried = false

    @Argument(help: ArgumentHelp("A URL on the server.", valueName: "url"))
    var url: String

    func run() async throws {
        let place = try ServerArgument(url)
        // Checked before the user types a password in vain.
        let isOpen = try await Keyring.use { logins throws(BusError) in try await logins.isOpen }
        guard isOpen else {
            Output.complain(
                "the keyring is locked, or no keyring is the default one: unlock it and try again"
            )
            throw ExitStatus.failed.exit
        }
        let user = try user ?? place.user ?? Prompt.line("User name at \(place.server): ")
        guard !user.isEmpty else { throw ValidationError("the user name is empty") }
        let shown = CellText(user).cut(to: 60)
        let password = try Prompt.secret("Password of \(shown) at \(place.server): ")
        let doubt = untried ? nil : try attempt(user, password, at: place.server)
        let isStored = try await Keyring.use { logins throws(BusError) in
            try await logins.keep(Login(user: user, password: password), for: place.server)
        }
        guard isStored else {
            Output.complain(
                "the keyring did not store it: it was locked meanwhile, or asks before it stores"
            )
            throw ExitStatus.failed.exit
        }
        if let doubt { Output.talk("Stored, but not tried: \(doubt).") }
    }

    /// Tries the login; ends the command where the server refuses it.
    ///
    /// - Returns: Why it could not be tried; nil where the server accepted it.
    private func attempt(
        _ user: String,
        _ password: String,
        at server: KeptLogins.Server
    ) throws -> String? {
        guard ServiceProgram.path != nil else {
            return "idownd, which would try it, is neither beside idown nor in PATH"
        }
        let input = [url, user, password]
        guard !input.contains(where: { $0.utf8.contains(UInt8(ascii: "\n")) }),
            let answer = ServiceProgram.ask("--try-login", input: input.joined(separator: "\n"))
        else { return "no answer came in time" }
        let parts = answer.split(separator: "\t", maxSplits: 1).map { "\(CellText(String($0)))" }
        switch parts.first {
        case "accepted": return nil
        case "refused":
            Output.complain("\(server) refuses this name and password: nothing is stored")
            throw ExitStatus.serverFailure.exit
        default:
            return parts.count > 1 ? parts[1] : "the URL cannot be requested"
        }
    }
}
