// SPDX-License-Identifier: Apache-2.0

package import iDownState

/// A waiting task, with the facts that decide whether it may start now.
package struct Candidate: Hashable, Sendable {
    package let id: TaskID
    /// The task's folder, absolute, with symbolic links resolved.
    package let directory: String
    /// The server's origin; nil where the record's URL is not valid.
    package let origin: Origin?
    /// Whether the task has a partial file.
    package let hasFile: Bool
    /// The origins of the mirrors that the client gave.
    package let mirrors: [Origin]
}

/// The waiting tasks that may not start now, because of their server, their folder or themselves.
package struct QueueExclusions: Hashable, Sendable {
    package var ids: Set<TaskID> = []
    package var origins: Set<Origin> = []
    /// Folders whose tasks may not start; tasks that already have a partial file there may.
    package var directories: Set<String> = []
    /// Folders where no task may start.
    package var stuckDirectories: Set<String> = []
    /// Whether all tasks are excluded whose host is another computer.
    package var remote = false
    /// Whether all tasks are excluded.
    package var all = false

    package init() {}

    /// Whether only single tasks are excluded; these are few, so the query need not filter them.
    var excludesOnlyTasks: Bool {
        origins.isEmpty && directories.isEmpty && stuckDirectories.isEmpty && !remote
    }
}
