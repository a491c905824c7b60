// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
package import iDownState
package import iDownloader

extension Coordinator: TransferJournal {
    /// The longest that a verb waits for what a disk does beside the record; the intent is durable
    /// by then, and a disk that hangs may answer tomorrow.
    static let longestPause: Duration = .seconds(1)

    package func record(
        _ event: TransferEvent,
        of task: TaskID,
        attempt: AttemptNumber
    ) async throws -> Bool {
        let now = time.date
        let jitter: Double
        var took: Duration = .zero
        switch event {
        case .failed:
            if let transfer = running[task], transfer.attempt == attempt {
                took = time.now - transfer.startedAt
            }
            var dice = time
            jitter = Double.random(in: 0..<1, using: &dice)
        case .arrived, .publishing:
            jitter = 0
            if running[task]?.attempt == attempt { arrived.insert(task) }
        case .opened, .checkpointed, .listed, .completed, .held: jitter = 0
        }
        let tryTook = took
        let hasNetwork = conditions.isOnline && !conditions.isCaptive
        return try await commit(answering: .first) { transaction in
            let change = try transaction.change(task) { record in
                let seen = hasNetwork ? event : event.whileOffline(from: record.request.origin)
                return record.apply(
                    .transfer(seen, of: attempt),
                    at: now,
                    jitter: jitter,
                    took: tryTook
                )
            }
            guard let change, !change.effects.isEmpty else { return (false, []) }
            return (true, [change])
        }
    }

    package func pieceHashes(of task: TaskID) async throws -> PieceHashes? {
        try await store.read { snapshot throws(StoreFailure) in
            try snapshot.pieceHashes(of: task)
        }
    }

    package func add(
        _ files: [ListedFile],
        listedBy task: TaskID,
        attempt: AttemptNumber
    ) async throws -> Bool {
        guard !isStopping else { throw ServiceRefusal.stopping }
        let now = time.date
        let wishes = withKeptLogins(
            files.map { NewTask(request: $0.request, pieces: $0.pieces) }
        )
        do {
            return try await commit(answering: .first) { transaction in
                guard let metalink = try transaction.task(task) else { throw Superseded() }
                let (ids, changes) = try transaction.add(wishes, listedBy: metalink, at: now)
                let change = try transaction.change(task) { record in
                    record.apply(.transfer(.listed(ids), of: attempt), at: now, jitter: 0)
                }
                // Thrown, so that the tasks that were just added are taken back.
                guard let change, !change.effects.isEmpty else { throw Superseded() }
                return (true, changes + [change])
            }
        } catch is Superseded {
            return false
        }
    }

    package func transferEnded(
        _ task: TaskID,
        attempt: AttemptNumber,
        failure: Failure?
    ) async {
        if let failure { await recordFailure(failure, of: task, attempt) }
        running[task] = nil
        releaseTransferWaiters(of: task)
        settled.remove(task)
        arrived.remove(task)
        meters[task] = nil
        fillHeldSlot(of: task)
        // Its host may have asked to be left alone.
        waitForBackOffs()
        keepHostNews()
        transfersDidEnd()
    }

    /// Waits until a stopped transfer has recorded what it kept; not for ever, since a disk may
    /// hang and the pause itself is durable already.
    func transferEnd(of id: TaskID) async {
        guard let transfer = running[id], settled.contains(id) else { return }
        let limit = afterLongestPause { coordinator in
            guard coordinator.running[id] === transfer else { return }
            coordinator.releaseTransferWaiters(of: id)
        }
        await withCheckedContinuation { waiter in
            // Others may have had a turn on the way here.
            guard running[id] === transfer else { return waiter.resume() }
            transferWaiters[id, default: []].append(waiter)
        }
        limit.cancel()
    }

    /// Does something when a verb has waited for long enough, unless the task is cancelled before.
    func afterLongestPause(
        _ body: @escaping @Sendable (isolated Coordinator) -> Void
    ) -> Task<Void, Never> {
        Task {
            guard (try? await time.sleep(for: Self.longestPause)) != nil else { return }
            body(self)
        }
    }

    func releaseTransferWaiters(of id: TaskID) {
        for waiter in transferWaiters.removeValue(forKey: id) ?? [] { waiter.resume() }
    }

    /// Records why a transfer ended; while the store cannot be written, again and again.
    private func recordFailure(
        _ failure: Failure,
        of task: TaskID,
        _ attempt: AttemptNumber
    ) async {
        while !isStopping {
            do {
                _ = try await record(.failed(failure), of: task, attempt: attempt)
                return
            } catch {
                log.error("the end of task \(task) could not be recorded yet: \(error)")
            }
            try? await time.sleep(for: Self.storeRetryInterval)
        }
    }

    /// What a task looks like from outside at this moment.
    func snapshot(of record: TaskRecord) -> TaskSnapshot {
        guard record.state == .downloading, let transfer = running[record.id],
            transfer.attempt == record.attempt
        else { return TaskSnapshot(record: record, live: nil) }
        var live = liveState(of: transfer, record.id)
        live.segments = transfer.live.segments
        return TaskSnapshot(record: record, live: live)
    }

    func liveState(of transfer: RunningTransfer, _ id: TaskID) -> LiveState {
        LiveState(
            bytes: transfer.live.bytes,
            bytesPerSecond: meters[id]?.bytesPerSecond ?? 0,
            activity: transfer.live.activity.name,
            connections: UInt32(clamping: transfer.live.connections)
        )
    }

    // MARK: Back-offs

    func scheduleRetry(of id: TaskID, after wait: Duration) {
        let deadline = time.now + wait
        backOffs.set(id, deadline)
        // The earliest of very many is not looked for each time.
        if let backOffEnd, backOffEnd <= deadline { return }
        waitForBackOffs()
    }

    /// Sleeps until the earliest back-off, or the rest of a host, is over.
    func waitForBackOffs() {
        backOffTimer?.cancel()
        backOffEnd = nil
        let rest = engine.rests.next.map { time.now + $0 }
        guard let next = [backOffs.next, rest].compactMap(\.self).min() else { return }
        backOffEnd = next
        backOffTimer = Task {
            guard (try? await time.sleep(until: next)) != nil else { return }
            let due = backOffs.takeDue(at: time.now)
            if due.isEmpty { fillSlots() } else { await endBackOffs(of: due) }
            guard !Task.isCancelled else { return }
            waitForBackOffs()
        }
    }

    private func endBackOffs(of ids: [TaskID]) async {
        let now = time.date
        do {
            try await commit { transaction in
                let changes = try ids.flatMap { id in
                    try transaction.changeIfReadable(id) {
                        $0.apply(.retryDue, at: now, jitter: 0)
                    }
                }
                return ((), changes)
            }
        } catch {
            log.error("back-offs that are over could not be recorded: \(error)")
            for id in ids { backOffs.set(id, time.now + Self.storeRetryInterval) }
            // This timer may have been replaced by one that found nothing to wait for.
            if !isStopping { waitForBackOffs() }
        }
    }

    // MARK: Deletions

    /// Carries out the intent to delete, once no transfer holds the file.
    func deletePartial(of record: TaskRecord) {
        let id = record.id
        repeats.removeValue(forKey: id)?.cancel()
        lastDeletion += 1
        let number = lastDeletion
        deletions[id] = number
        Task {
            await running[id]?.ended()
            if await !finishDeletion(of: record) {
                tryAgain(id) { [self] in await finishDeletion(of: record) }
            }
            // A later one, of a verb that came meanwhile, is not over with this one.
            guard deletions[id] == number else { return }
            deletions[id] = nil
            releaseDeletionWaiters(of: id)
        }
    }

    /// Waits until a deletion has been tried, or for ``longestPause``: it is carried out when the
    /// disk answers.
    ///
    /// - Returns: false where the disk has not answered in time.
    /// - Throws: when the service ends meanwhile; the next start carries the deletion out.
    func deletionEnd(of id: TaskID) async throws(ServiceRefusal) -> Bool {
        guard let number = deletions[id] else { return true }
        if isStopping { throw .stopping }
        let limit = afterLongestPause { coordinator in
            guard coordinator.deletions[id] == number else { return }
            coordinator.log.warning("the partial file of task \(id) waits for its disk to answer")
            coordinator.releaseDeletionWaiters(of: id)
        }
        await withCheckedContinuation { waiter in
            guard deletions[id] != nil, !isStopping else { return waiter.resume() }
            deletionWaiters[id, default: []].append(waiter)
        }
        limit.cancel()
        if deletions[id] != nil, isStopping { throw .stopping }
        return deletions[id] != number
    }

    func releaseDeletionWaiters(of id: TaskID) {
        for waiter in deletionWaiters.removeValue(forKey: id) ?? [] { waiter.resume() }
    }

    private func finishDeletion(of record: TaskRecord) async -> Bool {
        do {
            // It may be long ago, and the file of that inode another task's by now.
            let current = try await store.read { snapshot throws(StoreFailure) in
                try snapshot.task(record.id)
            }
            guard let current, current.intent == record.intent, current.file == record.file else {
                return true
            }
            try await engine.deletePartial(of: record)
            engine.forgetName(of: record)
            try await recordEvent(.partialDeleted, of: record.id)
            return true
        } catch {
            log.warning("the partial file of task \(record.id) could not be deleted yet: \(error)")
            return false
        }
    }

    /// Repeats work on a task's file until it succeeds or the service ends; the intent stands in
    /// the record, so that the next start carries it out otherwise.
    func tryAgain(_ id: TaskID, _ work: @escaping @Sendable () async -> Bool) {
        repeats[id]?.cancel()
        repeats[id] = Task {
            var wait = Self.storeRetryInterval
            while (try? await time.sleep(for: wait)) != nil, !isStopping {
                if await work() { break }
                wait = min(wait * 2, RetryPolicy.cap)
            }
            if !Task.isCancelled { repeats[id] = nil }
        }
    }

    /// Commits one event of the world.
    func recordEvent(_ event: Event, of id: TaskID) async throws {
        let now = time.date
        try await commit { transaction in
            let change = try transaction.change(id) { $0.apply(event, at: now, jitter: 0) }
            return ((), change.map { [$0] } ?? [])
        }
    }
}

/// The task of a transfer has moved on, and the transfer is no longer wanted.
private struct Superseded: Error {}

extension LiveProgress.Activity {
    /// The contract's name.
    var name: String {
        switch self {
        case .connecting: "connecting"
        case .transferring: "transferring"
        case .verifying: "verifying"
        }
    }
}
