// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// `idown remove`: takes tasks off the list.
struct RemoveCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Takes downloads off the list.",
        discussion: """
            Partial data is deleted; a finished file stays where it is.

            Examples:
              idown remove 7 8
            """
    )

    @OptionGroup var ids: TaskIDs

    func apply(to id: String, _ client: ManagerClient) async throws(ManagerError) {
        try await client.remove(id)
    }
}
