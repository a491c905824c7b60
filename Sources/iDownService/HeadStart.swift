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
    /// It does not get the slot, and ends.
    private(set) var isDropped = false

    init(_ record: TaskRecord, on engine: Engine, for coordinator: Coordinator) {
        var granted = record
        granted.attempt = record.attempt.next
        journal = Journal(coordinator, verdict: nil)
        transfer = engine.start(TransferJob(granted), journal: journal)
    }

    mutating func drop() {
        isDropped = true
        journal.settle(.dropped)
        transfer.stop()
    }

    /// That the file has arrived, once that waits to be said.
    var arrival: TransferEvent? { journal.arrival }
}
