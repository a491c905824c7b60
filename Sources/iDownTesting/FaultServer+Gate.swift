// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

extension FaultServer {
    /// A door that is shut at first and, once opened, open for good.
    ///
    /// A script waits at it (``Step/wait(for:)``) until the test opens it; or the test waits until
    /// a script has come to a point (``Step/open(_:)``).
    package final class Gate: Sendable {
        private struct State {
            var isOpen = false
            var waiters: [CheckedContinuation<Void, Never>] = []
        }

        /// The reading end of a pipe: it hangs up, and so can be polled, when the gate is open.
        let descriptor: Int32
        private let writingEnd: Int32
        private let state = Mutex(State())

        /// A shut gate.
        package init() {
            var ends: [Int32] = [-1, -1]
            let code = pipe(&ends)
            precondition(code == 0, "no pipe for a gate: errno \(errno)")
            // A child that a test starts must not keep the gate shut.
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            descriptor = ends[0]
            writingEnd = ends[1]
        }

        deinit {
            close(descriptor)
            if !isOpen { close(writingEnd) }
        }

        /// Whether it was opened.
        package var isOpen: Bool { state.withLock(\.isOpen) }

        /// Opens it for all who wait and all who come; may be called again.
        package func open() {
            let waiters = state.withLock { state in
                guard !state.isOpen else { return [CheckedContinuation<Void, Never>]() }
                state.isOpen = true
                close(writingEnd)
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
        }

        /// Returns once it is open.
        package func waitUntilOpen() async {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiters.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
        }
    }
}
