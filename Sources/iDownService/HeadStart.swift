// SPDX-License-Identifier: Apache-2.0

import Synchronization
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
        journal = Journal(coordinator)
        transfer = engine.start(TransferJob(granted), journal: journal)
    }

    mutating func drop() {
        isDropped = true
        journal.settle(.dropped)
        transfer.stop()
    }

    /// That the file has arrived, once that waits to be said.
    var arrival: TransferEvent? { journal.arrival }

    /// Passes on what the transfer says once its task has the slot; until then that waits.
    final class Journal: TransferJournal {
        /// What becomes of the task.
        enum Verdict {
            case dropped
            /// `isRecorded` where the arrival was recorded together with the start.
            case hasSlot(isRecorded: Bool)
        }

        private struct State {
            var verdict: Verdict?
            var arrival: TransferEvent?
            var waiters: [CheckedContinuation<Verdict, Never>] = []
        }

        private let coordinator: Coordinator
        private let state = Mutex(State())

        init(_ coordinator: Coordinator) { self.coordinator = coordinator }

        fileprivate var arrival: TransferEvent? { state.withLock(\.arrival) }

        /// Says what becomes of it; whoever says so first is believed.
        func settle(_ verdict: Verdict) {
            let waiters: [CheckedContinuation<Verdict, Never>] = state.withLock { state in
                guard state.verdict == nil else { return [] }
                state.verdict = verdict
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume(returning: verdict) }
        }

        private func verdict(before event: TransferEvent? = nil) async -> Verdict {
            await withCheckedContinuation { continuation in
                let known: Verdict? = state.withLock { state in
                    if let verdict = state.verdict { return verdict }
                    if case .arrived = event { state.arrival = event }
                    state.waiters.append(continuation)
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        }

        private var hasSlot: Bool {
            get async {
                switch await verdict() {
                case .dropped: false
                case .hasSlot: true
                }
            }
        }

        func record(
            _ event: TransferEvent,
            of task: TaskID,
            attempt: AttemptNumber
        ) async throws -> Bool {
            let isFirst = arrival == nil
            switch await verdict(before: event) {
            case .dropped:
                return false
            case .hasSlot(isRecorded: true) where isFirst && arrival != nil:
                return true
            case .hasSlot:
                return try await coordinator.record(event, of: task, attempt: attempt)
            }
        }

        func pieceHashes(of task: TaskID) async throws -> PieceHashes? {
            try await coordinator.pieceHashes(of: task)
        }

        func add(
            _ files: [ListedFile],
            listedBy task: TaskID,
            attempt: AttemptNumber
        ) async throws -> Bool {
            guard await hasSlot else { return false }
            return try await coordinator.add(files, listedBy: task, attempt: attempt)
        }

        func transferEnded(
            _ task: TaskID,
            attempt: AttemptNumber,
            failure: Failure?
        ) async {
            if await hasSlot {
                await coordinator.transferEnded(task, attempt: attempt, failure: failure)
            } else {
                await coordinator.headStartEnded(of: task)
            }
        }
    }
}
