// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown retry`: tries tasks again, at once.
struct RetryCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Tries downloads again, at once.",
        discussion: """
            As idown resume; also ends the wait before the next try, and downloads a completed file \
            again under a free name, leaving the old one alone. Of a range or of all, completed \
            files are left as they are.

            Examples:
              idown retry 7
              idown retry failed
            """
    )

    @OptionGroup var selection: SelectionArguments

    func apply(to id: String, _ client: ManagerClient) async throws(ManagerError) -> ExitStatus? {
        try await client.retry(id)
        return nil
    }

    /// There is no call for many: what Resume does as well goes in one, the rest one by one.
    func apply(
        to tasks: [TaskProperties],
        _ client: ManagerClient
    ) async throws(ManagerError) -> UInt32 {
        let resumed = tasks.filter { [.paused, .failed, .cancelled].contains($0.state) }
        var count = resumed.isEmpty ? 0 : try await client.startTasks(resumed.map(\.id))
        let words = (try? selection.selection().words) ?? []
        let takesCompleted = words.contains(.state(.completed))
        for task in tasks {
            let isRetried =
                task.hold == .retry
                || task.state == .completed && (takesCompleted || words.contains(.id(task.id)))
            guard isRetried else { continue }
            try await client.retry(task.id)
            count += 1
        }
        return count
    }
}
