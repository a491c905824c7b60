// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState
import iDownloader

/// Deletes partial files, and repeats deletions that the file system has refused.
///
/// The record holds the intent: the next run of the service does what this one leaves undone.
final class Deletions {
    /// For each task with a deletion under way, the number of its last deletion.
    private(set) var underWay: [TaskID: Int] = [:]
    /// The number of the last deletion of all tasks.
    private(set) var last = 0
    private let waiters = Waiters<TaskID, Void>()
    /// Deletions that are being repeated until they succeed.
    private(set) var repeats: [TaskID: Task<Void, Never>] = [:]

    /// Carries out the intent to delete once no transfer has the file open.
    func begin(of record: TaskRecord, in coordinator: isolated Coordinator) {
        let id = record.id
        repeats.removeValue(forKey: id)?.cancel()
        last += 1
        let number = last
        underWay[id] = number
        Task {
            await coordinator.slots.running[id]?.ended()
            await coordinator.moves.drop(id)
            let wait = Coordinator.storeRetryInterval
            if await !Self.finish(record, elseAfter: wait, in: coordinator) {
                tryAgain(record, in: coordinator)
            }
            // If a verb has begun a later deletion meanwhile, that one is not over yet.
            guard underWay[id] == number else { return }
            underWay[id] = nil
            waiters.release(id, with: ())
        }
    }

    /// Waits until a deletion has been tried, but no longer than ``Coordinator/longestPause``: a
    /// disk that hangs gets its deletion later.
    ///
    /// - Returns: false where the disk has not answered in time.
    func end(of id: TaskID, in coordinator: isolated Coordinator) async -> Bool {
        guard let number = underWay[id], !coordinator.isStopping else { return true }
        let pause = Coordinator.longestPause
        _ = await waiters.wait(for: id, atMost: pause, in: coordinator)
        guard underWay[id] == number, !coordinator.isStopping else { return true }
        coordinator.log.warning("the partial file of task \(id) waits for its disk to answer")
        return false
    }

    /// Tries at once where a verb puts a task into the queue that waits for the next try.
    func note(_ change: Change, in coordinator: isolated Coordinator) {
        let (before, after) = (change.before?.state, change.after)
        guard after.isDeleting, after.state == .waiting(.queue), before != after.state,
            repeats[after.id] != nil
        else { return }
        begin(of: after, in: coordinator)
    }

    /// Repeats a deletion until it succeeds or the service ends.
    ///
    /// The record holds the intent, so the next start carries it out otherwise.
    private func tryAgain(_ record: TaskRecord, in coordinator: isolated Coordinator) {
        repeats[record.id]?.cancel()
        repeats[record.id] = Task {
            var wait = Coordinator.storeRetryInterval
            while (try? await coordinator.time.sleep(for: wait)) != nil, !coordinator.isStopping {
                wait = min(wait * 2, RetryPolicy.cap)
                if await Self.finish(record, elseAfter: wait, in: coordinator) { break }
            }
            if !Task.isCancelled { repeats[record.id] = nil }
        }
    }

    /// Ends all waits and repeats, because the service ends; a durable intent counts as done.
    func stop() {
        for work in repeats.values { work.cancel() }
        waiters.releaseAll(with: ())
    }

    /// Deletes a partial file, and records the deletion.
    ///
    /// - Returns: false where the deletion has to be tried again after `wait`.
    private static func finish(
        _ record: TaskRecord,
        elseAfter wait: Duration,
        in coordinator: Coordinator
    ) async -> Bool {
        do {
            // The deletion may come late, when another task's file has the inode: compare with the
            // record.
            let current = try await coordinator.store.read { try $0.task(record.id) }
            guard let current, current.intent == record.intent, current.file == record.file else {
                return true
            }
            try await coordinator.engine.deletePartial(of: record)
            coordinator.engine.names.release(record.id)
            try await coordinator.recordEvent(.partialDeleted, of: record.id)
            return true
        } catch {
            coordinator.log.warning(
                "the partial file of task \(record.id) could not be deleted yet: \(error)"
            )
            if let reason = (error as? FileError)?.failure {
                let text = "The old file cannot be deleted. \(reason.message)"
                let event = Event.deletionFailed(Failure(reason.code, text), again: wait)
                // If the list cannot be written, the task does not tell why it waits.
                _ = try? await coordinator.recordEvent(event, of: record.id)
            }
            return false
        }
    }
}
