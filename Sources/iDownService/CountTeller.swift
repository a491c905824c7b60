// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownloader

/// Tells how many tasks are in each state.
final class CountTeller {
    /// Soon enough for eyes, and one signal for all that a script does at once.
    private static let delay: Duration = .milliseconds(50)

    private var told = TaskCounts()
    private var isStale = false
    /// Nil while the counts are as last told.
    private var teller: Task<Void, Never>?

    /// Takes note of what everybody knows.
    func begin(with counts: TaskCounts) { told = counts }

    /// Has the counts told soon: in a burst of changes not once for each.
    func change(in coordinator: isolated Coordinator) {
        isStale = true
        guard teller == nil, !coordinator.isStopping else { return }
        teller = Task {
            while isStale, (try? await coordinator.time.sleep(for: Self.delay)) != nil {
                isStale = false
                guard let counts = try? await coordinator.counts(), counts != told else { continue }
                told = counts
                await coordinator.announcer?.countsChanged(counts)
            }
            teller = nil
        }
    }
}
