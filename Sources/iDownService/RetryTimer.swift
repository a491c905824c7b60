// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownState
import iDownloader

/// Ends back-offs, and the pauses that servers asked for, when their time is over.
final class RetryTimer {
    private var backOffs = BackOffs()
    private var timer: Task<Void, Never>?
    /// When the timer ends; nil where no task and no server is waited for.
    private var end: BackOffs.Instant?

    /// Returns when a task is tried again; nil where it is not in back-off.
    func deadline(of id: TaskID) -> BackOffs.Instant? { backOffs.deadline(of: id) }

    /// Notes that a task is not in back-off any more.
    func remove(_ id: TaskID) { backOffs.remove(id) }

    /// Schedules the next try of a task after a wait.
    func schedule(_ id: TaskID, after wait: Duration, in coordinator: isolated Coordinator) {
        let deadline = coordinator.time.now + wait
        backOffs.set(id, deadline)
        // The running timer ends earlier, so the earliest of very many is not searched for again.
        if let end, end <= deadline { return }
        begin(in: coordinator)
    }

    /// Sleeps until the earliest back-off or pause of a server is over, and then ends it.
    func begin(in coordinator: isolated Coordinator) {
        stop()
        end = nil
        guard !coordinator.isStopping else { return }
        let time = coordinator.time
        let rest = coordinator.engine.hosts.nextRest.map { time.now + $0 }
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
            try await coordinator.commitChanges(of: { _ in ids }) {
                $0.apply(.retryDue, at: now, jitter: 0)
            }
        } catch {
            coordinator.log.error("back-offs that are over could not be recorded: \(error)")
            let next = coordinator.time.now + Coordinator.storeRetryInterval
            for id in ids { backOffs.set(id, next) }
            // Another timer may have replaced this one and found nothing to wait for.
            if !coordinator.isStopping { begin(in: coordinator) }
        }
    }
}
