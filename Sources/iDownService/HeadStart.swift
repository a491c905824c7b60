// SPDX-License-Identifier: Apache-2.0

import iDownState
import iDownloader

/// The transfer of a task that is next, begun before the task has its slot.
///
/// A complete file still needs two syncs before it has its name, and its task keeps its slot until
/// then although it fetches nothing. The transfer that gets the slot next begins in this time and
/// stops before the first event that has to be recorded. If its file is complete when its task gets
/// the slot, start and arrival are one commit; if the task does not get the slot, nothing is left.
/// The list shows the task as waiting, so that never more tasks run than there are slots.
struct HeadStart {
    let transfer: RunningTransfer
    let journal: Journal
    /// Where its first request goes.
    let origin: Origin?
    /// Whether a browser has handed the task over: its answer may not be had a second time.
    let isHandedOver: Bool
    /// It does not get the slot, and ends.
    private(set) var isDropped = false

    /// Begins the transfer of a task; that of a task which a browser hands over, and which is not in the
    /// list yet, waits with its answer.
    ///
    /// - Parameters:
    ///   - record: the task.
    ///   - engine: starts the transfer.
    ///   - coordinator: records what the transfer tells, once the task has its slot.
    ///   - listener: hears what the transfer of a handed over task says first, on any thread; nil for
    ///     any other task.
    init(
        _ record: TaskRecord,
        on engine: Engine,
        for coordinator: Coordinator,
        listener: (@Sendable (Journal.FirstWord) -> Void)? = nil
    ) {
        isHandedOver = listener != nil
        origin = record.request.origin
        var granted = record
        granted.attempt = record.attempt.next
        let job = TransferJob(granted, holdsFirstAnswer: isHandedOver)
        journal = Journal(coordinator, verdict: nil, listener: listener)
        transfer = engine.start(job, journal: journal)
    }

    mutating func drop() {
        isDropped = true
        journal.settle(.dropped)
        transfer.stop()
    }

    /// That the file has arrived, once that waits to be said.
    var arrival: TransferEvent? { journal.arrival }
}
