// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// `idown pause`: stops tasks and keeps their bytes.
struct PauseCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pauses downloads; their bytes are kept.",
        discussion: """
            A failed, completed or cancelled download cannot be paused.

            Examples:
              idown pause 7
              idown pause 3-7 12
              idown pause waiting
            """
    )

    @OptionGroup var selection: SelectionArguments

    func apply(to id: String, _ client: ManagerClient) async throws(ManagerError) -> ExitStatus? {
        try await client.pause(id)
        return nil
    }

    func apply(
        to tasks: [TaskProperties],
        _ client: ManagerClient
    ) async throws(ManagerError) -> UInt32 {
        try await client.pauseTasks(tasks.map(\.id))
    }
}
