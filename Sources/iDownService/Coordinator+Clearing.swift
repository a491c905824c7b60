// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState
import iDownloader

// Completed tasks do not stay in the list for ever, if the user wants it so.
extension Coordinator {
    /// So many tasks leave in one commit.
    private static let mostCleared = 500
    /// The calendar may be set, so that the time is looked at again after this at the latest.
    private static let longestRest: Duration = .seconds(3600)

    /// Changes how long completed tasks stay in the list; 0 is for ever.
    package func keepCompleted(days: Int) {
        let (seconds, overflows) = Int64(days).multipliedReportingOverflow(by: 86_400)
        keeping = days > 0 && !overflows ? .seconds(seconds) : nil
        startClearing()
    }

    /// Begins anew to look for completed tasks whose time is over.
    func startClearing() {
        clearer?.cancel()
        clearer = nil
        guard let keeping, hasBegun, !isStopping else { return }
        clearer = Task {
            while !Task.isCancelled {
                var rest = Self.longestRest
                do {
                    rest = min(rest, try await clear(olderThan: keeping))
                } catch {
                    log.warning("completed tasks could not be taken off the list yet: \(error)")
                }
                try? await time.sleep(for: max(rest, .seconds(1)))
            }
        }
    }

    /// Takes off the list what was completed before.
    ///
    /// - Returns: How long the next one has yet.
    private func clear(olderThan age: Duration) async throws -> Duration {
        while true {
            let (limit, now) = (Self.mostCleared, time.date)
            let finished = try await store.read { snapshot throws(StoreFailure) in
                try snapshot.completedTasks(limit: limit)
            }
            let ages = finished.map { now.since($0.at) }
            let due = zip(finished, ages).prefix { $1 >= age }.map(\.0.id)
            guard !due.isEmpty else { return ages.first.map { age - $0 } ?? Self.longestRest }
            let count = try await commit { transaction in
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
