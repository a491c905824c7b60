// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState
import iDownloader

/// Takes completed tasks off the list when their time is over, if the user wants it so.
final class Clearing {
    /// This many tasks leave in one commit.
    private static let batch = 500
    /// The calendar may be set, so that the time is looked at again after this at the latest.
    private static let longestRest: Duration = .seconds(3600)

    /// How long completed tasks stay in the list; nil is for ever.
    private var age: Duration?
    private var worker: Task<Void, Never>?

    /// Changes how long completed tasks stay in the list; 0 is for ever.
    func keep(days: Int, in coordinator: isolated Coordinator) {
        let (seconds, overflows) = Int64(days).multipliedReportingOverflow(by: 86_400)
        age = days > 0 && !overflows ? .seconds(seconds) : nil
        begin(in: coordinator)
    }

    /// Begins anew to look for completed tasks whose time is over.
    func begin(in coordinator: isolated Coordinator) {
        stop()
        guard let age, coordinator.hasBegun, !coordinator.isStopping else { return }
        worker = Task {
            while !Task.isCancelled {
                var rest = Self.longestRest
                do {
                    rest = min(rest, try await clear(olderThan: age, in: coordinator))
                } catch {
                    coordinator.log.warning(
                        "completed tasks could not be taken off the list yet: \(error)"
                    )
                }
                try? await coordinator.time.sleep(for: max(rest, .seconds(1)))
            }
        }
    }

    func stop() {
        worker?.cancel()
        worker = nil
    }

    /// Takes off the list what was completed before.
    ///
    /// - Returns: How long the next one has yet.
    private func clear(
        olderThan age: Duration,
        in coordinator: isolated Coordinator
    ) async throws -> Duration {
        while true {
            let (limit, now) = (Self.batch, coordinator.time.date)
            let finished = try await coordinator.store.read { snapshot throws(StoreFailure) in
                try snapshot.completedTasks(limit: limit)
            }
            let ages = finished.map { now.since($0.at) }
            let due = zip(finished, ages).prefix { $1 >= age }.map(\.0.id)
            guard !due.isEmpty else { return ages.first.map { age - $0 } ?? Self.longestRest }
            let count = try await coordinator.commit { transaction in
                let changes = try due.flatMap { id in
                    try transaction.changeIfReadable(id) { record in
                        // Somebody may have begun it anew in the meantime.
                        record.state == .completed ? try record.apply(.remove) : []
                    }
                }
                return (changes.count, changes)
            }
            // What is left of them cannot be read.
            guard count > 0 else { return Self.longestRest }
        }
    }
}
