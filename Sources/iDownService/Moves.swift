// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState
import iDownloader

/// The files that are on their way to another place.
///
/// The intent stands in the record: what is not done when the service ends is done by the next one.
final class Moves {
    /// How a move came out.
    enum End: Sendable {
        case arrived
        /// The file stays; why, nil where somebody wanted that.
        case failed(Failure?)
        /// The service ends, or a verb has made the move pointless.
        case dropped
    }

    private struct Work {
        let work: Task<Void, Never>
        var isGivenUp = false
    }

    private var underWay: [TaskID: Work] = [:]
    private let waiters = Waiters<TaskID, End>()
    /// Ends that somebody wants to know, and how many want to; nil until they are known.
    private var wanted: [TaskID: (count: Int, end: End?)] = [:]

    /// Goes on with what the last run of the service has left.
    func resume(in coordinator: isolated Coordinator) {
        Task {
            let ids = try? await coordinator.store.read { snapshot throws(StoreFailure) in
                try snapshot.movingTasks()
            }
            for id in ids ?? [] { begin(id, in: coordinator) }
        }
    }

    /// Carries out the move that is recorded, once no transfer has the file open.
    func begin(_ id: TaskID, in coordinator: isolated Coordinator) {
        guard underWay[id] == nil, !coordinator.isStopping else { return }
        let work = Task {
            await carryOut(id, in: coordinator)
            underWay[id] = nil
            finish(id, with: .dropped)
        }
        underWay[id] = Work(work: work)
    }

    /// From now on the end of the task's next move is kept for ``end(of:atMost:in:)``.
    func expect(_ id: TaskID) { wanted[id, default: (0, nil)].count += 1 }

    func forget(_ id: TaskID) {
        wanted[id]?.count -= 1
        if wanted[id]?.count == 0 { wanted[id] = nil }
    }

    /// Waits for the end of a task's move.
    ///
    /// - Returns: nil where it is not over within `limit`, or nothing moves.
    func end(
        of id: TaskID,
        atMost limit: Duration? = nil,
        in coordinator: isolated Coordinator
    ) async -> End? {
        if let end = wanted[id]?.end { return end }
        guard underWay[id] != nil, !coordinator.isStopping else { return nil }
        return await waiters.wait(for: id, atMost: limit, in: coordinator)
    }

    /// Has a move end with the file at its old place, or where it has come to already.
    ///
    /// - Returns: false where a disk does not answer in time.
    func giveUp(_ id: TaskID, in coordinator: isolated Coordinator) async -> Bool {
        guard underWay[id] != nil else { return true }
        underWay[id]?.isGivenUp = true
        underWay[id]?.work.cancel()
        let pause = Coordinator.longestPause
        return await waiters.wait(for: id, atMost: pause, in: coordinator) != nil
    }

    /// The task's partial file is to be deleted, wherever it is by then.
    func drop(_ id: TaskID) async {
        guard let work = underWay[id]?.work else { return }
        work.cancel()
        await work.value
    }

    /// The service ends.
    func stop() {
        for work in underWay.values { work.work.cancel() }
        waiters.releaseAll(with: .dropped)
    }

    private func finish(_ id: TaskID, with end: End) {
        if wanted[id] != nil, wanted[id]?.end == nil { wanted[id]?.end = end }
        waiters.release(id, with: end)
    }

    private func carryOut(_ id: TaskID, in coordinator: isolated Coordinator) async {
        var wait = Coordinator.storeRetryInterval
        var isLastTry = false
        while !coordinator.isStopping {
            await coordinator.slots.running[id]?.ended()
            do {
                guard try await takeStep(of: id, in: coordinator) else { return }
                continue
            } catch {
                coordinator.log.warning("the file of task \(id) could not be moved yet: \(error)")
            }
            if (try? await coordinator.time.sleep(for: wait)) == nil {
                // Who gives a move up has to know where the file is.
                guard underWay[id]?.isGivenUp == true, !isLastTry else { return }
                isLastTry = true
            }
            wait = min(wait * 2, RetryPolicy.cap)
        }
    }

    /// - Returns: whether something is left to be done.
    private func takeStep(of id: TaskID, in coordinator: isolated Coordinator) async throws -> Bool
    {
        let record = try await coordinator.store.read { snapshot throws(StoreFailure) in
            try snapshot.task(id)
        }
        guard let record, !record.isDeleting else { return false }
        switch record.move {
        case nil:
            return false
        case .from:
            try await coordinator.engine.deleteLeftover(of: record)
            try await coordinator.recordEvent(.leftoverDeleted, of: id)
            return false
        case .to(let place, _):
            let event = try await move(record, to: place, in: coordinator)
            guard let event else { return false }
            let isTold = record.state == .completed && wanted[id] != nil
            var told = event
            // Who asked for it hears of it, and the task has come to no harm.
            if case .failed = event, isTold { told = .failed(nil) }
            guard try await note(told, of: id, to: place, in: coordinator) else { return false }
            switch event {
            case .arrived(_, let leavesCopy):
                coordinator.log.info("task \(id): its file is in its new place")
                finish(id, with: .arrived)
                return leavesCopy
            case .failed(let failure):
                let reason = failure?.message ?? "given up"
                coordinator.log.notice("task \(id): its file stays where it was: \(reason)")
                finish(id, with: .failed(failure))
            case .lost, .making:
                finish(id, with: .arrived)
            }
            return false
        }
    }

    /// - Returns: what has become of the file; nil where the next run of the service has to see.
    private func move(
        _ record: TaskRecord,
        to place: Move.Place,
        in coordinator: isolated Coordinator
    ) async throws -> MoveEvent? {
        do {
            return try await coordinator.engine.move(record) { [coordinator] made in
                try await Self.note(.making(made), of: record.id, to: place, in: coordinator)
            }
        } catch is CancellationError {
            return underWay[record.id]?.isGivenUp == true ? .failed(nil) : nil
        }
    }

    private func note(
        _ event: MoveEvent,
        of id: TaskID,
        to place: Move.Place,
        in coordinator: isolated Coordinator
    ) async throws -> Bool {
        try await Self.note(event, of: id, to: place, in: coordinator)
    }

    /// - Returns: whether the task still goes to that place.
    private static func note(
        _ event: MoveEvent,
        of id: TaskID,
        to place: Move.Place,
        in coordinator: Coordinator
    ) async throws -> Bool {
        let now = coordinator.time.date
        return try await coordinator.commit { transaction in
            let change = try transaction.change(id) {
                $0.apply(.move(event, to: place), at: now, jitter: 0)
            }
            guard let change, !change.effects.isEmpty else { return (false, []) }
            return (true, [change])
        }
    }
}
