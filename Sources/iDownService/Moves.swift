// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState
import iDownloader

/// Moves files to other places.
///
/// The record holds the intent: the next run of the service does what this one leaves undone.
final class Moves {
    /// The result of a move.
    enum End: Sendable {
        case arrived
        /// The file stays; the failure is nil where that was wanted.
        case failed(Failure?)
        /// The service ends, or a verb has made the move pointless.
        case dropped
        /// The move was given up, but where the file is could not be found out or recorded: the
        /// move goes on.
        case open
    }

    private struct Work {
        let work: Task<Void, Never>
        var isGivenUp = false
        /// Whether the work has been given up, which only has to be recorded.
        var isEnding = false
        /// Whether something may be left to do when the work ends: a move that was recorded after
        /// the work has read the record, or one that the work could not end.
        var leavesMore = false
    }

    private var underWay: [TaskID: Work] = [:]
    private let waiters = Waiters<TaskID, End>()
    /// The tasks for whose moves calls wait, how many calls do, and the ends so far by place.
    private var wanted: [TaskID: (count: Int, ends: [Move.Place: End])] = [:]

    /// Goes on with the moves that the last run of the service has left.
    func resume(in coordinator: isolated Coordinator) {
        Task {
            let complaint = "the list of moving files cannot be read yet"
            await coordinator.untilStored(orLog: complaint, at: .warning) {
                let ids = try await coordinator.store.read { try $0.movingTasks() }
                for id in ids { begin(id, in: coordinator) }
            }
        }
    }

    /// Carries out the recorded move once no transfer has the file open.
    func begin(_ id: TaskID, in coordinator: isolated Coordinator) {
        guard !coordinator.isStopping else { return }
        guard underWay[id] == nil else {
            underWay[id]?.leavesMore = true
            return
        }
        let work = Task {
            await carryOut(id, in: coordinator)
            let leavesMore = underWay.removeValue(forKey: id)?.leavesMore == true
            if leavesMore { begin(id, in: coordinator) }
            waiters.release(id, with: .dropped)
        }
        underWay[id] = Work(work: work)
    }

    /// Keeps the ends of the task's moves for ``end(of:at:in:)`` from now on.
    func expect(_ id: TaskID) { wanted[id, default: (0, [:])].count += 1 }

    func forget(_ id: TaskID) {
        wanted[id]?.count -= 1
        if wanted[id]?.count == 0 { wanted[id] = nil }
    }

    /// Waits for the end of a task's move.
    ///
    /// - Returns: nil where the move is not over within `limit`, or nothing moves.
    func end(
        of id: TaskID,
        atMost limit: Duration? = nil,
        in coordinator: isolated Coordinator
    ) async -> End? {
        guard underWay[id] != nil, !coordinator.isStopping else { return nil }
        return await waiters.wait(for: id, atMost: limit, in: coordinator)
    }

    /// Waits for the end of a task's move to one place; ``expect(_:)`` was called before the move
    /// began.
    ///
    /// - Returns: nil where no move has ended within ``Coordinator/longestLook``, the place's disk
    ///   has kept a look waiting as long, or nothing moves.
    func end(
        of id: TaskID,
        at place: Move.Place,
        in coordinator: isolated Coordinator
    ) async -> End? {
        let limit = Coordinator.longestLook
        while true {
            if let end = wanted[id]?.ends[place] { return end }
            // The end that comes may be that of an earlier move.
            guard !coordinator.engine.disk.holdsUpLooks(in: place.directory, for: limit),
                await end(of: id, atMost: limit, in: coordinator) != nil
            else { return nil }
        }
    }

    /// Gives a move up: the file stays at its old place, or where it already is.
    ///
    /// A copy that the move has left on a drive which is not connected stays there.
    ///
    /// - Returns: false where a disk does not answer in time, or where the file is cannot be found
    ///   out: the move goes on once the disk answers.
    func giveUp(_ id: TaskID, in coordinator: isolated Coordinator) async -> Bool {
        guard !coordinator.isStopping else { return true }
        if underWay[id] == nil { begin(id, in: coordinator) }
        underWay[id]?.isGivenUp = true
        underWay[id]?.work.cancel()
        let pause = Coordinator.longestPause
        var end = await waiters.wait(for: id, atMost: pause, in: coordinator)
        if end == nil, underWay[id]?.isEnding == true {
            end = await waiters.wait(for: id, in: coordinator)
        }
        switch end {
        case .arrived, .failed, .dropped: return true
        case .open: return false
        case nil:
            // The caller is refused, so the recorded move begins anew after the cancelled work.
            underWay[id]?.isGivenUp = false
            underWay[id]?.leavesMore = true
            return false
        }
    }

    /// Ends the task's moves, because its partial file is to be deleted wherever it is then.
    func drop(_ id: TaskID) async {
        while let work = underWay[id]?.work {
            work.cancel()
            await work.value
        }
    }

    /// Cancels all moves, because the service ends.
    func stop() {
        for work in underWay.values { work.work.cancel() }
        waiters.releaseAll(with: .dropped)
    }

    private func finish(_ id: TaskID, at place: Move.Place, with end: End) {
        wanted[id]?.ends[place] = end
        waiters.release(id, with: end)
    }

    private func carryOut(_ id: TaskID, in coordinator: isolated Coordinator) async {
        var wait = Coordinator.storeRetryInterval
        var isLastTry = false
        while !coordinator.isStopping {
            do {
                guard try await takeStep(of: id, in: coordinator) else { return }
                continue
            } catch {
                coordinator.log.warning("the file of task \(id) could not be moved yet: \(error)")
            }
            if (try? await coordinator.time.sleep(for: wait)) == nil {
                // The caller who gives the move up has to know where the file is: try once more.
                guard underWay[id]?.isGivenUp == true else { return }
                guard !isLastTry else {
                    underWay[id]?.leavesMore = true
                    return waiters.release(id, with: .open)
                }
                isLastTry = true
            }
            wait = min(wait * 2, RetryPolicy.cap)
        }
    }

    /// - Returns: whether another step is needed.
    private func takeStep(of id: TaskID, in coordinator: isolated Coordinator) async throws -> Bool
    {
        // A transfer that runs now may record its last checkpoint after the record is read.
        let transfer = coordinator.slots.running[id]
        let record = try await coordinator.store.read { try $0.task(id) }
        guard let record, !record.isDeleting else { return false }
        switch record.move {
        case nil:
            return false
        case .from:
            guard try await deleteLeftover(of: record, in: coordinator) else { return false }
            try await coordinator.recordEvent(.leftoverDeleted, of: id)
            return false
        case .to(let place, _), .copied(let place, _):
            if let transfer {
                await transfer.ended()
                // None begins before the move is over, so the next step reads the last checkpoint.
                return true
            }
            let event = try await move(record, to: place, in: coordinator)
            guard let event else { return false }
            let isTold = record.state == .completed && wanted[id] != nil
            var told = event
            // The caller that asked for the move reports the failure, and the task itself has not
            // failed.
            if case .failed = event, isTold { told = .failed(nil) }
            // The task may have another destination by now.
            guard try await coordinator.recordEvent(.move(told, to: place), of: id) != nil
            else { return false }
            switch event {
            case .arrived(_, let leavesCopy):
                coordinator.log.info("task \(id): its file is in its new place")
                finish(id, at: place, with: .arrived)
                return leavesCopy
            case .failed(let failure):
                let reason = failure?.message ?? "given up"
                coordinator.log.notice("task \(id): its file stays where it was: \(reason)")
                finish(id, at: place, with: .failed(failure))
            case .copied:
                return true
            case .lost, .making:
                finish(id, at: place, with: .arrived)
            }
            return false
        }
    }

    /// - Returns: false where the drive of the leftover copy is not connected; the next run of the
    ///   service looks again.
    private func deleteLeftover(
        of record: TaskRecord,
        in coordinator: isolated Coordinator
    ) async throws -> Bool {
        do throws(FileError) {
            try await coordinator.engine.deleteLeftover(of: record)
            return true
        } catch {
            let isGivenUp = underWay[record.id]?.isGivenUp == true
            switch error {
            case .vanished, .folderMissing, .folderMoved, .otherDrive:
                coordinator.log.notice(
                    "task \(record.id): a copy of its file stays on a drive that is not connected"
                )
                return isGivenUp
            case .system, .nameTaken, .notOurs, .shortened:
                guard isGivenUp else { throw error }
                coordinator.log.notice("task \(record.id): a copy of its file stays: \(error)")
                return true
            }
        }
    }

    /// - Returns: what has become of the file; nil where the next run of the service has to find
    ///   out.
    private func move(
        _ record: TaskRecord,
        to place: Move.Place,
        in coordinator: isolated Coordinator
    ) async throws -> MoveEvent? {
        do {
            return try await coordinator.engine.move(record) { [coordinator] made in
                // Returns whether the task still has this destination.
                try await coordinator.recordEvent(.move(.making(made), to: place), of: record.id)
                    != nil
            }
        } catch is CancellationError {
            guard underWay[record.id]?.isGivenUp == true else { return nil }
            underWay[record.id]?.isEnding = true
            return .failed(nil)
        }
    }
}
