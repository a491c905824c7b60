// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import Synchronization

/// Gives memory that large calls have freed back to the system, with `malloc_trim`.
///
/// malloc keeps freed texts of up to some kilobytes, because small blocks among them are still in
/// use: after twelve calls of 60 MB it kept 115 MB. Giving 60 MB back takes 2 to 13 ms.
final class SpareMemory: Sendable {
    /// The least bytes of a large call: 1 MiB.
    private static let largeSize = 1 << 20
    /// The time between two trims while large calls are running, and to the one after the last
    /// call: a quarter of a second, in nanoseconds.
    private static let pause: EventLoop.Instant = 250_000_000

    private struct State {
        /// The number of large calls that are running.
        var calls = 0
        /// Whether a large call has ended since the last trim.
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
        loop.addTimer(after: Self.pause) {
            let isNeeded = self.state.withLock { state in
                defer { (state.isWaiting, state.hasEnded) = (false, false) }
                return state.calls > 0 || state.hasEnded
            }
            _ = malloc_trim(0)
            if isNeeded { self.wait() }
        }
    }
}
