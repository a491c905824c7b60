// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown retry`: retries tasks immediately.
struct RetryCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Tries downloads again now.",
        discussion: """
            Does what idown resume does. It also ends the wait before the next automatic try, and \
            downloads a completed file again: the new file gets a free name, and the old one stays. \
            Completed files are downloaded again only if you name their IDs or the state completed.

            Examples:
              idown retry 7
              idown retry failed
            """
    )

    static let verb = ListVerb.retry
    static let participle = "retried"

    @OptionGroup var change: ChangeArguments

    func changes(_ task: TaskProperties) -> Bool {
        task.hold == .retry || isResumed(task) || isRepeated(task)
    }

    private func isResumed(_ task: TaskProperties) -> Bool {
        [.paused, .failed, .cancelled].contains(task.state)
    }

    /// Whether a completed download was selected by its ID or by its state, to be repeated.
    private func isRepeated(_ task: TaskProperties) -> Bool {
        let words = (try? change.selected.selection())?.words ?? []
        return task.state == .completed
            && (words.contains(.state(.completed)) || words.contains(.id(task.id)))
    }

    /// Resumes tasks with one call where it can, and retries the others one by one.
    ///
    /// The bus has no call that retries many tasks.
    func apply(
        to tasks: [TaskProperties],
        _ client: ManagerClient
    ) async throws(ManagerError) -> UInt32 {
        let resumed = tasks.filter(isResumed)
        var count = resumed.isEmpty ? 0 : try await client.startTasks(resumed.map(\.id))
        let selection = try? change.selected.selection()
        let repeated = tasks.filter { $0.hold == .retry || isRepeated($0) }
        try await CallsAtOnce.make(about: repeated) { task throws(ManagerError) in
            guard try await isStill(task, client) else { return false }
            try await client.retry(task.id)
            return true
        } then: { task, answer throws(ManagerError) in
            do throws(ManagerError) {
                if try answer.get() { count += 1 }
            } catch {
                // Another program may have removed or started the task since the list was read.
                let isGone = selection?.passesOver(error, of: task.id) == true
                guard isGone || error.code == .invalidState else { throw error }
            }
        }
        return count
    }

    /// Whether a task is still in the state in which it was selected.
    ///
    /// A retry would download a task that completed meanwhile again from the beginning.
    private func isStill(
        _ task: TaskProperties,
        _ client: ManagerClient
    ) async throws(ManagerError) -> Bool {
        let current = try await client.getTask(task.id)
        guard task.state != .completed else { return current.state == .completed }
        return current.hold == .retry || current.state == .failed
    }
}
