// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus

/// `idown resume`: puts tasks back into the queue.
struct ResumeCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resumes paused, failed and cancelled downloads.",
        discussion: """
            They wait for a free slot. A completed download cannot be resumed; see idown retry.

            Examples:
              idown resume 7
              idown resume failed paused
            """
    )

    @OptionGroup var selection: SelectionArguments

    func apply(to id: String, _ client: ManagerClient) async throws(ManagerError) -> ExitStatus? {
        try await client.resume(id)
        return nil
    }

    func apply(
        to tasks: [TaskProperties],
        _ client: ManagerClient
    ) async throws(ManagerError) -> UInt32 {
        try await client.startTasks(tasks.map(\.id))
    }
}
