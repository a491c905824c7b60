// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownloader

/// Announces how many tasks are in each state.
final class CountTeller {
    /// Short enough for people to see no delay, and long enough for one signal about all that a
    /// script does at once.
    private static let delay: Duration = .milliseconds(50)

    private let telling = WantedWork()

    /// Tells the counts after a short delay, so that a burst of changes causes one signal.
    ///
    /// They may be those that were told last: a client may have read others in between.
    func change(in coordinator: isolated Coordinator) {
        telling.want(after: Self.delay, in: coordinator) {
            guard let counts = try? await coordinator.counts() else { return }
            await coordinator.announcer?.countsChanged(counts)
        }
    }
}
