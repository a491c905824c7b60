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
        let selected = try? selection.selection()
        let words = selected?.words ?? []
        let takesCompleted = words.contains(.state(.completed))
        for task in tasks {
            let isRetried =
                task.hold == .retry
                || task.state == .completed && (takesCompleted || words.contains(.id(task.id)))
            guard isRetried else { continue }
            do throws(ManagerError) {
                guard try await isStill(task, client) else { continue }
                try await client.retry(task.id)
                count += 1
            } catch {
                // Others may have taken it off the list, or started it, since it was looked at.
                let isGone = selected?.passesOver(error, of: task.id) == true
                guard isGone || error.code == .invalidState else { throw error }
            }
        }
        return count
    }

    /// Whether a task still is what it was retried for; one that has completed meanwhile would
    /// begin from zero.
    private func isStill(
        _ task: TaskProperties,
        _ client: ManagerClient
    ) async throws(ManagerError) -> Bool {
        let current = try await client.getTask(task.id)
        guard task.state != .completed else { return current.state == .completed }
        return current.hold == .retry || current.state == .failed
    }
}
