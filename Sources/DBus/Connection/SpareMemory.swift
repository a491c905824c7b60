// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import Synchronization

/// Gives back to the system what large calls have freed, with `malloc_trim`.
///
/// malloc keeps freed texts of up to some kilobytes, because a small block here and there is still
/// used: after twelve calls of 60 MB it kept 115 MB. To give 60 MB back takes 2 to 13 ms.
final class SpareMemory: Sendable {
    /// From so many bytes on a call is a large one: 1 MiB.
    private static let largeSize = 1 << 20
    /// So often it is given back while large calls are under way, and once more after the last one: a
    /// quarter of a second.
    private static let pause: EventLoop.Instant = 250_000_000

    private struct State {
        /// Large calls under way.
        var calls = 0
        /// One has ended since it was given back last.
        var hasEnded = false
        var isWaiting = false
    }

    private unowned let loop: EventLoop
    private let state = Mutex(State())

    init(_ loop: EventLoop) { self.loop = loop }

    func callBegan(size: Int) {
        guard size >= Self.largeSize else { return }
        state.withLock { $0.calls += 1 }
        wait()
    }

    func callEnded(size: Int) {
        guard size >= Self.largeSize else { return }
        state.withLock { state in
            state.calls -= 1
            state.hasEnded = true
        }
    }

    private func wait() {
        let isWaiting = state.withLock { state in
            defer { state.isWaiting = true }
            return state.isWaiting
        }
        guard !isWaiting else { return }
        // The timer keeps this object, and the loop keeps the timer.
        loop.addTimer(after: Self.pause, repeats: false) {
            let isNeeded = self.state.withLock { state in
                defer { (state.isWaiting, state.hasEnded) = (false, false) }
                return state.calls > 0 || state.hasEnded
            }
            _ = malloc_trim(0)
            if isNeeded { self.wait() }
        }
    }
}
