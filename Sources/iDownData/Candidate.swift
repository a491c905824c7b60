// SPDX-License-Identifier: Apache-2.0

package import iDownState

/// A task that waits for a slot, with what decides whether it may have one at present.
package struct Candidate: Hashable, Sendable {
    package let id: TaskID
    package let priority: Int32
    /// Absolute, links resolved.
    package let directory: String
    /// Nil where the URL in the record is none.
    package let origin: Origin?
    /// Whether a partial file is there.
    package let hasFile: Bool
}

/// Tasks of the queue that are passed over because of where they come from or go to.
package struct PassedOver: Hashable, Sendable {
    package var ids: Set<TaskID> = []
    package var origins: Set<Origin> = []
    /// Tasks that have a partial file are not passed over for their folder.
    package var directories: Set<String> = []
    /// All whose host is another computer.
    package var remote = false
    /// Everything.
    package var all = false

    package init() {}

    /// Whether only single tasks are passed over, of which there are few.
    var isOfTasksAlone: Bool { origins.isEmpty && directories.isEmpty && !remote }
}
