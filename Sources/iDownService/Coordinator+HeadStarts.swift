// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownState
import iDownloader

extension Coordinator {
    /// Begins and drops transfers, so that those run ahead that come next.
    ///
    /// - Parameters:
    ///   - next: the tasks that get the next slots, as the last commit says.
    ///   - scheduling: what that has done for slots; some wait to be started by it.
    func keepAhead(
        _ next: [SchedulingPass.Next],
        after scheduling: Result<CommitQueue.Outcome, any Error>?
    ) {
        // What was not committed says nothing.
        guard case .success(let outcome)? = scheduling else { return }
        let admitted = Set(outcome.changes.filter(\.starts).map(\.after.id))
        let ids = Set(next.map(\.id))
        for id in ahead.keys.sorted() where !ids.contains(id) && !admitted.contains(id) { drop(id) }
        guard !isStopping else { return }
        for case .new(let record) in next where ahead[record.id] == nil {
            ahead[record.id] = HeadStart(record, on: engine, for: self)
        }
    }

    /// The transfer that began ahead for what is a running one now; nil where none did.
    func takeHeadStart(of record: TaskRecord) -> RunningTransfer? {
        guard let start = ahead[record.id], !start.isDropped else { return nil }
        ahead[record.id] = nil
        // It waited with its file already: that was recorded with the start.
        if record.isPublishing { arrived.insert(record.id) }
        start.journal.settle(.hasSlot(isRecorded: record.isPublishing))
        return start.transfer
    }

    /// Has the transfer of a task end that does not get the slot, or not as it was.
    func drop(_ id: TaskID) {
        guard ahead[id]?.isDropped == false else { return }
        ahead[id]?.drop()
    }

    /// It holds nothing any more: its task may start anew.
    func headStartEnded(of id: TaskID) {
        ahead[id] = nil
        // Whatever became of its task, it has no file.
        engine.names.release(id)
        fillHeldSlot(of: id)
        releaseStopIfDone()
    }
}
