// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState
import iDownloader

/// The partial files that are to be deleted, and work on files that the file system has refused.
///
/// The intent stands in the record: what is not done when the service ends is done by the next one.
final class Deletions {
    /// Of each task with a deletion under way the number of the last one.
    private(set) var underWay: [TaskID: Int] = [:]
    /// The number of the last deletion of all.
    private(set) var last = 0
    private let waiters = Waiters<TaskID, Void>()
    /// Work that is tried again.
    private var repeats: [TaskID: Task<Void, Never>] = [:]

    /// Whether work on a task's file is to be tried again.
    func repeats(for id: TaskID) -> Bool { repeats[id] != nil }

    /// Carries out the intent to delete, once no transfer holds the file.
    func begin(of record: TaskRecord, in coordinator: isolated Coordinator) {
        let id = record.id
        repeats.removeValue(forKey: id)?.cancel()
        last += 1
        let number = last
        underWay[id] = number
        Task {
            await coordinator.slots.running[id]?.ended()
            await coordinator.moves.drop(id)
            if await !Self.finish(record, in: coordinator) {
                tryAgain(id, in: coordinator) { await Self.finish(record, in: coordinator) }
            }
            // A later one, of a verb that came meanwhile, is not over with this one.
            guard underWay[id] == number else { return }
            underWay[id] = nil
            waiters.release(id, with: ())
        }
    }

    /// Waits until a deletion has been tried, or for ``Coordinator/longestPause``: it is carried
    /// out when the disk answers.
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

    /// Repeats work on a task's file until it succeeds or the service ends; the intent stands in
    /// the record, so that the next start carries it out otherwise.
    func tryAgain(
        _ id: TaskID,
        in coordinator: isolated Coordinator,
        _ work: @escaping @Sendable () async -> Bool
    ) {
        repeats[id]?.cancel()
        repeats[id] = Task {
            var wait = Coordinator.storeRetryInterval
            while (try? await coordinator.time.sleep(for: wait)) != nil, !coordinator.isStopping {
                if await work() { break }
                wait = min(wait * 2, RetryPolicy.cap)
            }
            if !Task.isCancelled { repeats[id] = nil }
        }
    }

    /// The service ends: what is durable counts as done for those who wait.
    func stop() {
        for work in repeats.values { work.cancel() }
        waiters.releaseAll(with: ())
    }

    /// Deletes a partial file, and records that.
    ///
    /// - Returns: false where it is to be tried again.
    private static func finish(_ record: TaskRecord, in coordinator: Coordinator) async -> Bool {
        do {
            // It may be long ago, and the file of that inode another task's by now.
            let current = try await coordinator.store.read { snapshot throws(StoreFailure) in
                try snapshot.task(record.id)
            }
            guard let current, current.intent == record.intent, current.file == record.file else {
                return true
            }
            try await coordinator.engine.deletePartial(of: record)
            coordinator.engine.forgetName(of: record)
            try await coordinator.recordEvent(.partialDeleted, of: record.id)
            return true
        } catch {
            coordinator.log.warning(
                "the partial file of task \(record.id) could not be deleted yet: \(error)"
            )
            return false
        }
    }
}
