// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownData
import iDownState
import iDownloader

/// Reads finished files again for calls of Verify (contract, Verify).
///
/// One reading serves all calls for its task, and is cancelled when the last of their callers
/// leaves.
final class Verifications {
    private struct Reading {
        let work: Task<Void, Never>
        /// By the number of the call: the application from a sandbox that calls, or nil.
        var callers: [Int: String?]
    }

    private var readings: [TaskID: Reading] = [:]
    private let waiters = Waiters<TaskID, Result<Integrity, any Error>>()

    /// How many calls wait.
    var calls: Int { readings.values.reduce(0) { $0 + $1.callers.count } }

    /// Whether the finished file of a task is being read.
    func isReading(_ record: TaskRecord) -> Bool {
        record.state == .completed && readings[record.id] != nil
    }

    /// The tasks whose files are being read, or were until a moment ago.
    var tasks: Set<TaskID> { Set(readings.keys) }

    /// Reads the file of a task, or joins the calls for which it is being read.
    func integrity(
        of id: TaskID,
        for application: String?,
        in coordinator: isolated Coordinator
    ) async throws -> Integrity {
        let record = try await finished(id, in: coordinator)
        try coordinator.refuseWhileStopping()
        // Behind the last suspension, so that calls that come together are counted one by one.
        let limits = Contract.pendingVerifications
        let ofApplication = readings.values.flatMap(\.callers.values)
            .count { application != nil && $0 == application }
        guard calls < limits.all, ofApplication < limits.application else {
            throw ServiceRefusal.limitExceeded(
                "Too many calls of Verify wait: at most \(limits.all) at a time, and"
                    + " \(limits.application) of an application from a sandbox."
            )
        }
        let number = waiters.makeNumber()
        if readings[id] == nil { begin(record, in: coordinator) }
        readings[id]?.callers.updateValue(application, forKey: number)
        defer { leave(number, id) }
        guard let result = await waiters.wait(for: id, as: number, in: coordinator) else {
            throw CancellationError()
        }
        return try result.get()
    }

    /// Ends a reading if the call that leaves was the last one that waits for it.
    private func leave(_ number: Int, _ id: TaskID) {
        readings[id]?.callers.removeValue(forKey: number)
        if readings[id]?.callers.isEmpty == true { readings[id]?.work.cancel() }
    }

    /// Cancels all readings, because the service ends; each answers its callers, even if its result
    /// is committed.
    func stop() { for reading in readings.values { reading.work.cancel() } }

    private func begin(_ record: TaskRecord, in coordinator: isolated Coordinator) {
        let id = record.id
        let work = Task {
            await tell(id, in: coordinator)
            let result = await read(record, in: coordinator)
            let last = try? await coordinator.task(id).record
            let callers = readings.removeValue(forKey: id)?.callers ?? [:]
            // A call from now on begins another reading.
            let number = waiters.lastNumber
            if Task.isCancelled, !callers.isEmpty, !coordinator.isStopping, let last {
                // These calls came while the reading was cancelled for lack of callers: read again.
                begin(last, in: coordinator)
                readings[id]?.callers = callers
                return
            }
            await tell(id, in: coordinator)
            await coordinator.afterSignals(of: id) {
                $0.verifications.waiters.release(id, through: number, with: result)
            }
        }
        readings[id] = Reading(work: work, callers: [:])
    }

    /// Announces that the reading has begun or ended, which the record shows by its serial alone.
    private func tell(_ id: TaskID, in coordinator: isolated Coordinator) async {
        _ = try? await coordinator.commit { transaction in
            let change = try transaction.change(id) { _ in [.persist, .announce] }
            return ((), change.map { [$0] } ?? [])
        }
    }

    private func read(
        _ first: TaskRecord,
        in coordinator: isolated Coordinator
    ) async -> Result<Integrity, any Error> {
        var record = first
        do {
            while true {
                while record.isMoving {
                    let end = await coordinator.moves.end(of: record.id, in: coordinator)
                    record = try await finished(record.id, in: coordinator)
                    // If nothing moves the file, this loop would read the record for ever.
                    if end == nil, record.isMoving { throw Refusal.moving }
                }
                let mismatch = try await mismatch(of: record, in: coordinator)
                let (seen, now) = (record, coordinator.time.date)
                let integrity: Integrity? = try await coordinator.commit { transaction in
                    var isSeen = false
                    let change = try transaction.change(seen.id) { current in
                        isSeen = current.isAlike(seen)
                        return isSeen ? current.apply(.verified(mismatch), at: now, jitter: 0) : []
                    }
                    return (isSeen ? change?.after.integrity : nil, change.map { [$0] } ?? [])
                }
                if let integrity { return .success(integrity) }
                // The file has another name or another checksum by now, or is gone.
                record = try await finished(seen.id, in: coordinator)
            }
        } catch {
            return .failure(coordinator.isStopping ? ServiceRefusal.stopping : error)
        }
    }

    private func finished(
        _ id: TaskID,
        in coordinator: isolated Coordinator
    ) async throws -> TaskRecord {
        let record = try await coordinator.task(id).record
        guard record.state == .completed else { throw Refusal.unfinished(record.state.kind) }
        return record
    }

    private func mismatch(
        of record: TaskRecord,
        in coordinator: isolated Coordinator
    ) async throws -> Failure? {
        var pieces: PieceHashes?
        if record.request.hasPieceHashes {
            pieces = try await coordinator.store.read { try $0.pieceHashes(of: record.id) }
        }
        return try await coordinator.engine.verify(record, pieces)
    }
}

extension TaskRecord {
    /// Whether another record has the same file, and expects the same bytes in it.
    fileprivate func isAlike(_ other: TaskRecord) -> Bool {
        state == .completed && !isMoving && !other.isMoving && file == other.file
            && request.directory == other.request.directory
            && request.checksum == other.request.checksum && remote == other.remote
    }
}
