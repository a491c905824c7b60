// SPDX-License-Identifier: Apache-2.0

/// Decides which tasks have the slots: by priority, then in the order in which they were added.
package enum Scheduler {
    package enum Decision: Hashable, Sendable {
        case start(TaskID)
        case displace(TaskID)
    }

    /// Brings the number of running tasks to `slots`.
    ///
    /// If more tasks run than there are slots, the last-started of the lowest priority go back to
    /// the queue. A task in the queue never displaces a running one, whatever its priority.
    ///
    /// - Parameters:
    ///   - slots: how many tasks may run.
    ///   - running: the tasks that run, the last-started of the lowest priority first.
    ///   - candidates: tasks that may start, best first; at most `slots` are read.
    /// - Returns: starts or displacements, in the order to carry them out.
    package static func decide(slots: Int, running: [TaskID], candidates: [TaskID]) -> [Decision] {
        let surplus = running.count - slots
        guard surplus <= 0 else { return running.prefix(surplus).map { .displace($0) } }
        return candidates.prefix(-surplus).map { .start($0) }
    }
}
