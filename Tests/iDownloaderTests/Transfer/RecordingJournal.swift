// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import iDownState
import iDownloader

/// A task's record, changed by what its transfers report exactly as the service changes it.
///
/// A test may step in before an event is applied: look at the disk at that moment, hold the
/// transfer there, change the record, refuse the event or fail as a full disk does.
final class RecordingJournal: TransferJournal {
    /// Comes before an event is applied; false refuses it, a throw is a record that cannot be
    /// written.
    typealias Hook = @Sendable (TransferEvent, RecordingJournal) async throws -> Bool

    /// The record could not be written.
    struct NotWritten: Error {}

    private struct State {
        var record: TaskRecord
        var hook: Hook = { _, _ in true }
        var events: [TransferEvent] = []
        var refused: [TransferEvent] = []
        var endings: [AttemptNumber] = []
        var pieceHashes: PieceHashes?
        var listed: [ListedFile] = []
        /// How many files the metalink lists beside these.
        var leftOut = 0
        var waiters: [Waiter] = []
        var jitter = 0.0
    }

    private struct Waiter {
        let condition: @Sendable (TaskRecord) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private let state: Mutex<State>

    init(_ record: TaskRecord) { state = Mutex(State(record: record)) }

    var record: TaskRecord { state.withLock(\.record) }

    /// The events that were applied, in order.
    var events: [TransferEvent] { state.withLock(\.events) }

    var kinds: [EventKind] { events.map(EventKind.init) }

    /// Those that the record did not want any more.
    var refused: [TransferEvent] { state.withLock(\.refused) }

    /// The attempts that said that they had ended, in order.
    var endings: [AttemptNumber] { state.withLock(\.endings) }

    /// The hashes that the list has of the file's pieces.
    func keep(_ pieces: PieceHashes?) { state.withLock { $0.pieceHashes = pieces } }

    /// The files that metalinks have added.
    var listed: [ListedFile] { state.withLock(\.listed) }
    var leftOut: Int { state.withLock(\.leftOut) }

    /// Back-offs are as long as they may be, not as short.
    func waitLongest() { state.withLock { $0.jitter = 1 } }

    /// Steps in before each event from now on.
    func before(_ hook: @escaping Hook) { state.withLock { $0.hook = hook } }

    /// Steps in no more.
    func stepBack() { before { _, _ in true } }

    /// What a person or the service does to the task; the effects are the caller's to carry out.
    @discardableResult
    func apply(_ command: Command) throws(Refusal) -> [Effect] {
        try state.withLock { state throws(Refusal) in try state.record.apply(command) }
    }

    /// A fresh link of the same origin, as a person gives it.
    func setURL(_ url: String) throws(Refusal) {
        try state.withLock { state throws(Refusal) in
            var edit = TaskEdit()
            edit.url = url
            _ = try state.record.edit(edit)
        }
    }

    @discardableResult
    func apply(_ event: Event) -> [Effect] {
        state.withLock { $0.record.apply(event, at: Self.now, jitter: 0) }
    }

    /// Returns once the record is as the condition wants it.
    func waitUntil(_ condition: @escaping @Sendable (TaskRecord) -> Bool) async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                guard !condition(state.record) else { return continuation.resume() }
                state.waiters.append(Waiter(condition: condition, continuation: continuation))
            }
        }
    }

    // MARK: TransferJournal

    func record(_ event: TransferEvent, of transfer: TransferID) async throws -> Bool {
        let hook = state.withLock { state in
            #expect(transfer.task == state.record.id)
            #expect(!state.endings.contains(transfer.attempt), "\(event) after the end")
            return state.hook
        }
        guard try await hook(event, self) else {
            state.withLock { $0.refused.append(event) }
            return false
        }
        return take(event, of: transfer.attempt)
    }

    func pieceHashes(of task: TaskID) async throws -> PieceHashes? { state.withLock(\.pieceHashes) }

    func add(
        _ files: [ListedFile],
        leavingOut count: Int,
        listedBy transfer: TransferID
    ) async throws -> Bool {
        let ids = files.indices.compactMap {
            TaskID(rawValue: transfer.task.rawValue + 1 + Int64($0))
        }
        guard try await record(.listed(ids), of: transfer) else { return false }
        state.withLock { state in
            state.listed += files
            state.leftOut += count
        }
        return true
    }

    func transferEnded(_ transfer: TransferID, failure: Failure?) async {
        if let failure {
            // A record that cannot be written stays as it is until the service starts again.
            _ = try? await record(.failed(failure), of: transfer)
        }
        state.withLock { state in
            #expect(!state.endings.contains(transfer.attempt), "ended twice")
            state.endings.append(transfer.attempt)
        }
    }

    private func take(_ event: TransferEvent, of attempt: AttemptNumber) -> Bool {
        state.withLock { state in
            let effects = state.record.apply(
                .transfer(event, of: attempt),
                at: Self.now,
                jitter: state.jitter
            )
            guard !effects.isEmpty else {
                state.refused.append(event)
                return false
            }
            state.events.append(event)
            for waiter in state.waiters where waiter.condition(state.record) {
                waiter.continuation.resume()
            }
            state.waiters.removeAll { $0.condition(state.record) }
            return true
        }
    }

    static let now = WallTime(microseconds: 1_000_000_000)
}

/// A transfer's events without what they carry.
enum EventKind: CaseIterable {
    case answered, opened, arrived, checkpointed, listed, publishing, completed, failed, held

    init(_ event: TransferEvent) {
        switch event {
        case .answered: self = .answered
        case .opened: self = .opened
        case .arrived: self = .arrived
        case .checkpointed: self = .checkpointed
        case .listed: self = .listed
        case .publishing: self = .publishing
        case .completed: self = .completed
        case .failed: self = .failed
        case .held: self = .held
        }
    }
}
