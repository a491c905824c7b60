// SPDX-License-Identifier: Apache-2.0

import iDownloader

/// Work that changes make necessary: it is done once at a time, and once more where a change came
/// meanwhile.
final class WantedWork {
    private var isWanted = false
    /// Does the work; nil while none is wanted.
    private var worker: Task<Void, Never>?

    var isIdle: Bool { worker == nil }

    /// Has the work done, unless the service is ending.
    ///
    /// - Parameters:
    ///   - delay: The wait before the work, which is then done once for all who want it meanwhile.
    ///   - coordinator: The owner.
    ///   - work: Does the work.
    func want(
        after delay: Duration = .zero,
        in coordinator: isolated Coordinator,
        _ work: @escaping () async -> Void
    ) {
        isWanted = true
        guard worker == nil, !coordinator.isStopping else { return }
        worker = Task {
            while isWanted, !Task.isCancelled {
                if delay > .zero, (try? await coordinator.time.sleep(for: delay)) == nil { break }
                isWanted = false
                await work()
            }
            worker = nil
        }
    }

    /// Cancels the work.
    func stop() { worker?.cancel() }
}
