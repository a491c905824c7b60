// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import iDownData
import iDownTesting

/// Commits of a store, of which one after the other can be held where it would become durable.
final class HeldCommit: Sendable {
    private struct State {
        var isWanted = false
        /// Opens once the commit that was wanted last is held.
        var gate = FaultServer.Gate()
    }

    private let state = Mutex(State())
    private let door = DispatchSemaphore(value: 0)

    /// For the store; none of its commits fails.
    var faults: CallFaults {
        CallFaults(fails: {
            let gate = self.state.withLock { state in
                defer { state.isWanted = false }
                return state.isWanted ? state.gate : nil
            }
            gate?.open()
            if gate != nil { self.door.wait() }
            return false
        })
    }

    /// Holds the next commit until ``release()``, which every way out of the test has to call: the
    /// store cannot be closed before.
    func holdNext() { state.withLock { $0 = State(isWanted: true) } }

    /// Returns once the commit that was wanted last is held.
    func reached() async throws {
        let gate = state.withLock(\.gate)
        try await within("the commit") { await gate.waitUntilOpen() }
    }

    func release() { door.signal() }
}
