// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import iDownData
import iDownTesting

/// Commits of a store, of which one can be held where it would become durable.
final class HeldCommit: Sendable {
    private let isWanted = Mutex(false)
    private let gate = FaultServer.Gate()
    private let door = DispatchSemaphore(value: 0)

    /// For the store; none of its commits fails.
    var faults: CommitFaults {
        CommitFaults(fails: {
            let isHeld = self.isWanted.withLock { isWanted in
                defer { isWanted = false }
                return isWanted
            }
            if isHeld {
                self.gate.open()
                self.door.wait()
            }
            return false
        })
    }

    /// Holds the next commit until ``release()``, which every way out of the test has to call: the
    /// store cannot be closed before.
    func holdNext() { isWanted.withLock { $0 = true } }

    /// Returns once a commit is held.
    func reached() async throws {
        try await within("the commit") { [gate] in await gate.waitUntilOpen() }
    }

    func release() { door.signal() }
}
