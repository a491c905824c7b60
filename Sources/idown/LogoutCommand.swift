// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DBus
import Secrets
import iDownBus

/// `idown logout`: forgets the name and the password for a server.
struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Forgets the name and the password for a server.",
        discussion: """
            Only what idown login keeps is forgotten, not what stands in ~/.netrc.

            Examples:
              idown logout https://example.org/
            """
    )

    @Argument(help: ArgumentHelp("A URL on the server.", valueName: "url"))
    var url: String

    func run() async throws {
        let place = try ServerArgument(url)
        let (forgotten, locked) = try await Keyring.use { logins throws(BusError) in
            try await logins.forget(place.server)
        }
        if locked > 0 {
            Output.complain("the keyring is locked and keeps \(locked): unlock it first")
            throw ExitStatus.failed.exit
        }
        if forgotten == 0 { Output.talk("nothing was kept for \(place.server)") }
    }
}
