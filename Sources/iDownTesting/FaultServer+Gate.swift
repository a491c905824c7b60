// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

extension FaultServer {
    /// A gate that is closed at first and stays open once it was opened.
    ///
    /// A script waits for the test (``Step/wait(for:)``), or the test waits until a script reaches
    /// a step (``Step/open(_:)``).
    package final class Gate: Sendable {
        private struct State {
            var isOpen = false
            var waiters: [CheckedContinuation<Void, Never>] = []
        }

        /// The reading end of a pipe, which reports a hang-up to poll(2) once the gate is open.
        let descriptor: Int32
        private let writingEnd: Int32
        private let state = Mutex(State())

        /// Makes a closed gate.
        package init() {
            var ends: [Int32] = [-1, -1]
            let code = pipe(&ends)
            precondition(code == 0, "no pipe for a gate: errno \(errno)")
            // A child that a test starts must not inherit the pipe: it would keep the gate closed.
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            descriptor = ends[0]
            writingEnd = ends[1]
        }

        deinit {
            close(descriptor)
            if !isOpen { close(writingEnd) }
        }

        /// Whether the gate was opened.
        package var isOpen: Bool { state.withLock(\.isOpen) }

        /// Opens the gate for all present and later waits; further calls do nothing.
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

        /// Returns once the gate is open.
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
