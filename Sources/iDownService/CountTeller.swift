// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownloader

/// Announces how many tasks are in each state.
final class CountTeller {
    /// Short enough for people to see no delay, and long enough for one signal about all that a
    /// script does at once.
    private static let delay: Duration = .milliseconds(50)

    private var told = TaskCounts()
    private let telling = WantedWork()

    /// Sets the counts that clients know.
    func begin(with counts: TaskCounts) { told = counts }

    /// Tells the counts after a short delay, so that a burst of changes causes one signal.
    func change(in coordinator: isolated Coordinator) {
        telling.want(after: Self.delay, in: coordinator) { [self] in
            guard let counts = try? await coordinator.counts(), counts != told else { return }
            told = counts
            await coordinator.announcer?.countsChanged(counts)
        }
    }
}
