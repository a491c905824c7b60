// SPDX-License-Identifier: Apache-2.0

package import iDownData
package import iDownState

/// Receives what was committed, in order, and tells clients.
package protocol Announcing: Sendable {
    /// A task was added, has changed, or was removed.
    func tell(_ news: TaskNews) async
    /// Only the live state has changed; called at most every half second for each task.
    func taskProgressed(_ id: TaskID, _ live: LiveState, of total: Int64?) async
    /// The number of tasks in some state has changed.
    func countsChanged(_ counts: TaskCounts) async
    /// One commit has changed many tasks.
    func changedTogether(_ news: [TaskNews], serial: Int64) async
    /// What ``changedTogether(_:serial:)`` has told is answered: the tasks' objects may tell it now.
    func tellObjects() async
    /// Calls `reply` once all that was announced of these tasks so far has been sent.
    func call(_ reply: @escaping @Sendable () -> Void, after ids: [TaskID]) async
    /// Calls all replies that wait, because the service ends.
    func answerAll() async
}

/// A task as clients see it: its record and its live state.
package struct TaskSnapshot: Sendable {
    package let sharedRecord: Shared<TaskRecord>
    package let live: LiveState?
    /// Whether the finished file is being read again.
    package var isVerifying = false

    package var record: TaskRecord { sharedRecord.value }

    package init(_ record: Shared<TaskRecord>, live: LiveState?) {
        sharedRecord = record
        self.live = live
    }

    package init(record: TaskRecord, live: LiveState?) { self.init(Shared(record), live: live) }
}

/// The live state that a running transfer adds to the record.
package struct LiveState: Hashable, Sendable {
    package var bytes: Int64
    package var bytesPerSecond: UInt64
    package var activity: String
    package var connections: UInt32
    /// The bytes in the file, synced or not; nil where only the record is known.
    package var segments: SegmentMap?
}
