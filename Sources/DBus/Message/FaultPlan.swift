// SPDX-License-Identifier: Apache-2.0

private import Synchronization

/// Makes the n-th call into libdbus fail, for tests; and counts the calls.
package final class FaultPlan: Sendable {
    private let failing: Int?
    private let count = Mutex(0)

    /// Plans one failure.
    ///
    /// - Parameter n: Which call fails, counted from 1; nil only counts.
    package init(failing n: Int? = nil) {
        failing = n
    }

    /// How many calls have been made so far.
    package var calls: Int {
        count.withLock { $0 }
    }

    /// Counts one call and answers whether it is the one to fail.
    func failsNext() -> Bool {
        count.withLock { count in
            count += 1
            return count == failing
        }
    }
}
