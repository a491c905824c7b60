// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DBus
import Secrets
import iDownBus

/// `idown login`: keeps a name and a password for a server.
struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Keeps a name and a password for a server in the desktop's keyring.",
        discussion: """
            They serve downloads from the URL's scheme, host and port, never another one's, and no \
            download that a link or a sandboxed application added. A download that failed for want \
            of them goes on with: idown retry ID. Without a terminal the password is read from \
            standard input, after the name where that is not given.

            Examples:
              idown login https://example.org/
              pass show example | idown login --user me https://example.org/
            """
    )

    @Option(name: [.short, .long], help: ArgumentHelp("The user's name.", valueName: "name"))
    var user: String?

    @Argument(help: ArgumentHelp("A URL on the server.", valueName: "url"))
    var url: String

    func run() async throws {
        let place = try ServerArgument(url)
        let user = try user ?? place.user ?? Prompt.line("User name at \(place.server): ")
        guard !user.isEmpty else { throw ValidationError("the user's name is empty") }
        let password = try Prompt.secret("Password of \(user) at \(place.server): ")
        let isKept = try await Keyring.use { logins throws(BusError) in
            try await logins.keep(Login(user: user, password: password), for: place.server)
        }
        guard isKept else {
            Output.complain("the keyring is locked, or there is none by default: unlock it first")
            throw ExitStatus.failed.exit
        }
    }
}
