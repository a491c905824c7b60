// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import iDownData
import iDownState
import iDownloader

/// Records the events of a transfer, and handles its end.
///
/// Events of a transfer that began ahead of its slot wait here until its task has the slot.
final class Journal: TransferJournal {
    /// The decision about the transfer's task.
    enum Verdict {
        case dropped
        /// The task has its slot; `isRecorded` says that the arrival was recorded with the start.
        case hasSlot(isRecorded: Bool)
    }

    private struct State {
        var verdict: Verdict?
        var arrival: TransferEvent?
        var waiters: [CheckedContinuation<Verdict, Never>] = []
    }

    /// The first result of a transfer whose answer is compared with the browser's.
    enum FirstWord: Sendable {
        case answered(OfferedFile)
        /// There is no answer with a file; the failure is nil unless the server or the connection
        /// is at fault.
        case ended(Failure?)
    }

    private let coordinator: Coordinator
    private let state: Mutex<State>
    /// Receives the first word of a transfer that was handed over; nil for all others.
    private let listener: (@Sendable (FirstWord) -> Void)?

    /// - Parameters:
    ///   - coordinator: commits the events.
    ///   - verdict: nil for a transfer that begins ahead of its slot; ``settle(_:)`` sets it later.
    ///   - listener: called on any thread while there is no verdict.
    init(
        _ coordinator: Coordinator,
        verdict: Verdict? = .hasSlot(isRecorded: false),
        listener: (@Sendable (FirstWord) -> Void)? = nil
    ) {
        self.coordinator = coordinator
        self.listener = listener
        state = Mutex(State(verdict: verdict))
    }

    /// The event that the file has arrived, once it waits to be recorded; nil before.
    var arrival: TransferEvent? { state.withLock(\.arrival) }

    /// Sets the verdict, unless there is one already.
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

    /// Passes on the first word while there is no verdict.
    private func tell(_ word: FirstWord) {
        guard let listener, state.withLock({ $0.verdict == nil }) else { return }
        listener(word)
    }

    private var hasSlot: Bool {
        get async { if case .hasSlot = await verdict() { true } else { false } }
    }

    // MARK: Events of the transfer

    func answered(_ answer: OfferedFile, of transfer: TransferID) async -> Bool {
        tell(.answered(answer))
        return await hasSlot
    }

    func record(_ event: TransferEvent, of transfer: TransferID) async throws -> Bool {
        let isFirst = arrival == nil
        tell(.ended(nil))
        switch await verdict(before: event) {
        case .dropped:
            return false
        case .hasSlot(isRecorded: true) where isFirst && arrival != nil:
            return true
        case .hasSlot:
            return try await record(event, of: transfer, in: coordinator)
        }
    }

    func pieceHashes(of task: TaskID) async throws -> PieceHashes? {
        try await coordinator.store.read { try $0.pieceHashes(of: task) }
    }

    func add(
        _ files: [ListedFile],
        leavingOut count: Int,
        listedBy transfer: TransferID
    ) async throws -> Bool {
        guard await hasSlot else { return false }
        let isWanted = try await add(files, listedBy: transfer, in: coordinator)
        if isWanted, count > 0 {
            coordinator.log.notice(
                "task \(transfer.task): its metalink lists \(count) more that idown does not download"
            )
        }
        return isWanted
    }

    func transferEnded(_ transfer: TransferID, failure: Failure?) async {
        tell(.ended(failure))
        await end(transfer, failure, hasSlot: hasSlot, in: coordinator)
    }

    // MARK: On the coordinator

    private func record(
        _ event: TransferEvent,
        of transfer: TransferID,
        in coordinator: isolated Coordinator
    ) async throws -> Bool {
        let (task, attempt) = (transfer.task, transfer.attempt)
        let now = coordinator.time.date
        var (jitter, took) = (0.0, Duration.zero)
        switch event {
        case .failed:
            if let transfer = coordinator.slots.running[task], transfer.attempt == attempt {
                took = coordinator.time.now - transfer.startedAt
            }
            var dice = coordinator.time
            jitter = Double.random(in: 0..<1, using: &dice)
        case .arrived, .publishing: coordinator.slots.noteArrival(of: task, attempt)
        case .answered, .opened, .checkpointed, .listed, .completed, .held: break
        }
        let hasNetwork = coordinator.holds.leadsOut
        let change = try await coordinator.commitChange(of: task, answering: .first) {
            [jitter, took] record in
            let seen = hasNetwork ? event : event.whileOffline(from: record.request.origin)
            return record.apply(.transfer(seen, of: attempt), at: now, jitter: jitter, took: took)
        }
        return change != nil
    }

    private func add(
        _ files: [ListedFile],
        listedBy transfer: TransferID,
        in coordinator: isolated Coordinator
    ) async throws -> Bool {
        let (task, attempt) = (transfer.task, transfer.attempt)
        try coordinator.refuseWhileStopping()
        let now = coordinator.time.date
        let wishes = coordinator.custody.withKeptLogins(
            files.map { NewTask(request: $0.request, pieces: $0.pieces) }
        )
        do {
            return try await coordinator.commit(answering: .first) { transaction in
                guard let metalink = try transaction.task(task) else { throw Superseded() }
                let (ids, changes) = try transaction.add(wishes, listedBy: metalink, at: now)
                let change = try transaction.change(task) { record in
                    record.apply(.transfer(.listed(ids), of: attempt), at: now, jitter: 0)
                }
                // Throwing takes back the tasks that were just added.
                guard let change, !change.effects.isEmpty else { throw Superseded() }
                return (true, changes + [change])
            }
        } catch is Superseded {
            return false
        } catch ServiceRefusal.limitExceeded(let text) {
            // A later try would not add them either, unless somebody removes tasks first.
            throw Failure(.fileFailed, "The files of the metalink could not be added. \(text)")
        }
    }

    private func end(
        _ transfer: TransferID,
        _ failure: Failure?,
        hasSlot: Bool,
        in coordinator: isolated Coordinator
    ) async {
        let task = transfer.task
        guard hasSlot else {
            let getsSlot = coordinator.slots.endAhead(task)
            // Without a slot the transfer has made no file, so nothing needs the name.
            coordinator.engine.names.release(task)
            if getsSlot { coordinator.fillSlots() }
            return coordinator.noteEnd()
        }
        if let failure {
            let complaint = "the end of task \(task) could not be recorded yet"
            await coordinator.untilStored(orLog: complaint) {
                _ = try await record(.failed(failure), of: transfer, in: coordinator)
            }
        }
        if coordinator.slots.end(task, in: coordinator) { coordinator.fillSlots() }
        // The server may have asked for a pause.
        coordinator.retries.begin(in: coordinator)
        coordinator.hosts.keepNews(in: coordinator)
        coordinator.noteEnd()
    }
}

/// Thrown when the task has moved on and no longer wants the transfer.
private struct Superseded: Error {}
