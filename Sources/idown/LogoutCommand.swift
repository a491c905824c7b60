// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DBus
import Secrets

/// `idown logout`: deletes the name and the password for a server.
struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Deletes the name and password for a server from the keyring.",
        discussion: """
            Only what idown login stored is deleted; ~/.netrc stays as it is.

            Examples:
              idown logout https://example.org/
            """
    )

    @Argument(help: ArgumentHelp("A URL on the server.", valueName: "url"))
    var url: String

    func run() async throws {
        let place = try ServerArgument(url)
        let (forgotten, locked, guarded) = try await Keyring.use { logins throws(BusError) in
            try await logins.forget(place.server)
        }
        guard locked == 0, guarded == 0 else {
            Output.complain(
                locked > 0
                    ? "the keyring is locked and still has \(locked) of them; unlock it and try again"
                    : "the keyring asks before it deletes a password: delete"
                        + " “idown: \(place.server)” there"
            )
            throw ExitStatus.failed.exit
        }
        if forgotten == 0 { Output.talk("Nothing was stored for \(place.server).") }
    }
}
