// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState
import iDownloader

/// Removes completed tasks from the list after the time that the user has set.
final class Clearing {
    /// The most tasks that one commit removes.
    private static let batch = 500
    /// The time between two looks at the clocks.
    ///
    /// Both have to find that a task's time is over, so that a calendar that is wrong for a while
    /// removes nothing.
    private static let rest: Duration = .seconds(3600)
    /// The time between the first two looks, so that a computer which is never on for an hour clears
    /// its list too.
    ///
    /// The network, which sets a calendar that is wrong at the start, is there before.
    private static let firstRest: Duration = .seconds(600)
    /// 2020: tasks that finished earlier did so while the clock was not set.
    private static let firstDate = WallTime(microseconds: 1_577_836_800_000_000)

    /// How long completed tasks stay in the list; nil means for ever.
    private var age: Duration?
    /// What the clocks said at the last look, and how long after it the next one comes.
    private var lastLook: (moment: TimeAndChance.Instant, date: WallTime, rest: Duration)?
    private var worker: Task<Void, Never>?

    /// Changes how long completed tasks stay in the list; 0 means for ever.
    func keep(days: Int, in coordinator: isolated Coordinator) {
        let (seconds, overflows) = Int64(days).multipliedReportingOverflow(by: 86_400)
        age = days > 0 && !overflows ? .seconds(seconds) : nil
        begin(in: coordinator)
    }

    /// Starts again to look for completed tasks whose time is over.
    func begin(in coordinator: isolated Coordinator) {
        stop()
        guard let age, coordinator.hasBegun, !coordinator.isStopping else { return }
        let time = coordinator.time
        worker = Task {
            while !Task.isCancelled {
                if let last = lastLook {
                    guard (try? await time.sleep(until: last.moment + last.rest)) != nil else {
                        return
                    }
                    let expected = last.date.advanced(by: time.now - last.moment)
                    let end = min(time.date, expected).advanced(by: .zero - age)
                    do {
                        try await clear(finishedBefore: end, in: coordinator)
                    } catch {
                        coordinator.log.warning(
                            "completed tasks could not be taken off the list yet: \(error)"
                        )
                    }
                }
                lastLook = (time.now, time.date, lastLook == nil ? Self.firstRest : Self.rest)
            }
        }
    }

    func stop() {
        worker?.cancel()
        worker = nil
    }

    /// Removes tasks that were completed before a time.
    private func clear(
        finishedBefore end: WallTime,
        in coordinator: isolated Coordinator
    ) async throws {
        while true {
            let due = try await coordinator.store.read { snapshot in
                try snapshot.completedTasks(
                    finishedFrom: Self.firstDate,
                    to: end,
                    limit: Self.batch
                )
            }
            // The user may have changed the time meanwhile.
            guard !due.isEmpty, !Task.isCancelled else { return }
            let count = try await coordinator.commitChanges(of: { _ in due }) { record in
                // The task may have been started again meanwhile.
                record.state == .completed ? try record.apply(.remove) : []
            }
            // The remaining records cannot be read.
            guard count > 0 else { return }
        }
    }
}
