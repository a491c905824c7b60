// SPDX-License-Identifier: Apache-2.0

package import iDownData
package import iDownState

/// Hears of what is committed, in the order in which it happened.
package protocol Announcing: Sendable {
    func taskAdded(_ task: TaskSnapshot) async
    func taskChanged(from before: TaskSnapshot, to after: TaskSnapshot) async
    /// Only what is under way has changed; comes at most every half second a task.
    func taskProgressed(_ id: TaskID, _ live: LiveState, of total: Int64?) async
    /// The number of tasks in some state is another now.
    func countsChanged(_ counts: TaskCounts) async
    func taskRemoved(_ id: TaskID) async
    /// One commit has changed many tasks.
    func changedTogether(_ news: [TaskNews], serial: Int64) async
    /// Calls `reply` once all that was announced of these tasks so far is on its way.
    func call(_ reply: @escaping @Sendable () -> Void, after ids: [TaskID]) async
    /// Calls all such replies at once: the service ends.
    func answerAll() async
}

extension Announcing {
    package func tell(_ news: TaskNews) async {
        switch (news.told, news.now) {
        case (_, nil): await taskRemoved(news.id)
        case (nil, let now?): await taskAdded(now)
        case (let told?, let now?): await taskChanged(from: told, to: now)
        }
    }

    package func changedTogether(_ news: [TaskNews], serial: Int64) async {
        for one in news { await tell(one) }
    }
}

/// A task as it is seen from outside: what is recorded, and what is under way.
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

/// What a running transfer adds to the record.
package struct LiveState: Hashable, Sendable {
    package var bytes: Int64
    package var bytesPerSecond: UInt64
    package var activity: String
    package var connections: UInt32
    /// What is in the file, synced or not; nil where only the record is known.
    package var segments: SegmentMap?
}
