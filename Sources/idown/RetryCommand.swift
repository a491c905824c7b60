// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// `idown retry`: tries tasks again, at once.
struct RetryCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Tries downloads again, at once.",
        discussion: """
            As idown resume; also ends the wait before the next try, and downloads a completed file \
            again under a free name, leaving the old one alone.

            Examples:
              idown retry 7
            """
    )

    @OptionGroup var ids: TaskIDs

    func apply(to id: String, _ client: ManagerClient) async throws(ManagerError) {
        try await client.retry(id)
    }
}
