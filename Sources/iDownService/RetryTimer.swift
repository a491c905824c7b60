// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownState
import iDownloader

/// Ends back-offs, and the rests of hosts, when their time is over.
final class RetryTimer {
    private var backOffs = BackOffs()
    private var timer: Task<Void, Never>?
    /// When the timer ends.
    private var end: BackOffs.Instant?

    /// When a task is tried again; nil where it is not in back-off.
    func deadline(of id: TaskID) -> BackOffs.Instant? { backOffs.deadline(of: id) }

    /// The task is not in back-off any more.
    func remove(_ id: TaskID) { backOffs.remove(id) }

    /// Has a task tried again after a wait.
    func schedule(_ id: TaskID, after wait: Duration, in coordinator: isolated Coordinator) {
        let deadline = coordinator.time.now + wait
        backOffs.set(id, deadline)
        // The earliest of very many is not looked for each time.
        if let end, end <= deadline { return }
        begin(in: coordinator)
    }

    /// Sleeps until the earliest back-off, or the rest of a host, is over.
    func begin(in coordinator: isolated Coordinator) {
        stop()
        end = nil
        guard !coordinator.isStopping else { return }
        let time = coordinator.time
        let rest = coordinator.engine.rests.next.map { time.now + $0 }
        guard let next = [backOffs.next, rest].compactMap(\.self).min() else { return }
        end = next
        timer = Task {
            guard (try? await time.sleep(until: next)) != nil else { return }
            let due = backOffs.takeDue(at: time.now)
            if due.isEmpty { coordinator.fillSlots() } else { await finish(due, in: coordinator) }
            guard !Task.isCancelled else { return }
            begin(in: coordinator)
        }
    }

    func stop() { timer?.cancel() }

    private func finish(_ ids: [TaskID], in coordinator: isolated Coordinator) async {
        let now = coordinator.time.date
        do {
            try await coordinator.commit { transaction in
                let changes = try ids.flatMap { id in
                    try transaction.changeIfReadable(id) {
                        $0.apply(.retryDue, at: now, jitter: 0)
                    }
                }
                return ((), changes)
            }
        } catch {
            coordinator.log.error("back-offs that are over could not be recorded: \(error)")
            let next = coordinator.time.now + Coordinator.storeRetryInterval
            for id in ids { backOffs.set(id, next) }
            // This timer may have been replaced by one that found nothing to wait for.
            if !coordinator.isStopping { begin(in: coordinator) }
        }
    }
}
