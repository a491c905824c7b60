// SPDX-License-Identifier: Apache-2.0

import iDownState
import iDownloader

/// The transfer of the next task in the queue, begun before the task has its slot.
///
/// A complete file still needs two syncs before it gets its name. Its task keeps the slot until
/// then, although it fetches nothing. During this time the transfer that gets the slot next begins,
/// and stops before the first event that has to be recorded. If its file is complete when its task
/// gets the slot, start and arrival are one commit; if the task does not get the slot, nothing is
/// left. The list shows the task as waiting, so that no more tasks run than there are slots.
struct HeadStart {
    let transfer: RunningTransfer
    let journal: Journal
    /// The origin of the first request.
    let origin: Origin?
    /// Whether a browser has handed the task over; its answer may be impossible to get again.
    let isHandedOver: Bool
    /// The answer that a handed-over task's transfer holds open; nil before it has come, and for
    /// any other task.
    var answer: OfferedFile?
    /// Whether the transfer has been told to end because its task does not get the slot.
    private(set) var isDropped = false

    /// Begins the transfer of a task; if a browser hands the task over, the transfer stops with its
    /// answer open.
    ///
    /// - Parameters:
    ///   - record: the task.
    ///   - engine: starts the transfer.
    ///   - coordinator: records the transfer's events once the task has its slot.
    ///   - listener: receives the first word of a handed-over task's transfer, on any thread; nil
    ///     for any other task.
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

    /// The event that the file has arrived, once it waits to be recorded; nil before.
    var arrival: TransferEvent? { journal.arrival }
}
