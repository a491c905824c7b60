// SPDX-License-Identifier: Apache-2.0

import iDownBus
package import iDownData
package import iDownState

/// Receives what was committed, in order, and tells clients.
package protocol Announcing: Sendable {
    /// One commit has added, changed or removed tasks, in this order.
    func tell(_ news: [TaskNews], serial: Int64) async
    /// Only the live state has changed; called at most every half second for each task.
    func taskProgressed(_ id: TaskID, _ live: LiveState, of total: Int64?) async
    /// The number of tasks in some state has changed.
    func countsChanged(_ counts: TaskCounts) async
    /// What ``tell(_:serial:)`` has told is answered: the tasks' objects may tell it now.
    func tellObjects() async
    /// Calls `reply` once all that was announced of these tasks so far has been sent.
    func call(_ reply: @escaping @Sendable () -> Void, after ids: [TaskID]) async
    /// Calls all replies that wait, because the service ends.
    func answerAll() async
}

/// The news of one task: the task as clients were last told of it, and as it is now.
package struct TaskNews: Sendable {
    package let id: TaskID
    /// The task as it was last told; nil where no client was told of it.
    package let told: TaskSnapshot?
    /// The task as it is now; nil where it is gone.
    package private(set) var now: TaskSnapshot?
    /// What has changed at some time since then, and may have its old value again: a client may
    /// have read the task in between.
    private(set) var passed: Set<TaskProperty> = []

    /// Adds later news, and what had passed before them.
    mutating func merge(_ next: TaskNews) {
        if let now, let later = next.now {
            let last = TaskProperties(now)
            passed.formUnion(TaskProperties(later).properties(changedSince: last))
        }
        passed.formUnion(next.passed)
        now = next.now
    }

    /// The properties to tell, where clients were told of the task before.
    func differences(from told: TaskProperties, to now: TaskProperties) -> [TaskProperty] {
        let differences = now.properties(changedSince: told)
        return differences + passed.subtracting(differences)
    }
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
