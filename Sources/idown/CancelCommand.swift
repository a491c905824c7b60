// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// `idown cancel`: stops tasks and deletes their partial data.
struct CancelCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancels downloads and deletes their partial data.",
        discussion: """
            They stay in the list; idown resume starts them from zero. A completed download cannot \
            be cancelled.

            Examples:
              idown cancel 7
              idown cancel failed
            """
    )

    @OptionGroup var selection: SelectionArguments

    func apply(to id: String, _ client: ManagerClient) async throws(ManagerError) -> ExitStatus? {
        try await client.cancel(id)
        return nil
    }

    func apply(
        to tasks: [TaskProperties],
        _ client: ManagerClient
    ) async throws(ManagerError) -> UInt32 {
        try await client.cancelTasks(tasks.map(\.id))
    }
}
