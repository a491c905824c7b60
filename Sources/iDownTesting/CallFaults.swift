// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Counts the calls at one border, and makes chosen ones fail.
///
/// A room asks it before each call that can fail, and knows nothing else of it.
package final class CallFaults: Sendable {
    private struct Plan {
        var calls = 0
        var failing: Set<Int>
    }

    private let plan: Mutex<Plan>
    private let errno: Int32
    private let fails: @Sendable () -> Bool

    /// - Parameters:
    ///   - failing: The numbers of the calls that fail, counted from 1.
    ///   - errno: The error with which system calls fail.
    ///   - fails: Called before each call; answers whether it fails.
    package init(
        failing: Set<Int> = [],
        with errno: Int32 = EIO,
        fails: @escaping @Sendable () -> Bool = { false }
    ) {
        plan = Mutex(Plan(failing: failing))
        self.errno = errno
        self.fails = fails
    }

    /// The number of calls so far, including failed ones.
    package var calls: Int { plan.withLock { $0.calls } }

    /// Makes one call fail: the one after the next `count` calls.
    package func failNext(after count: Int = 0) {
        plan.withLock { _ = $0.failing.insert($0.calls + count + 1) }
    }

    /// Makes one call fail, the one after the next `count` calls, and none that was to fail before.
    package func failOnly(after count: Int) {
        plan.withLock { $0.failing = [$0.calls + count + 1] }
    }

    /// Counts a call; returns the error with which it is to fail, or nil.
    package func next() -> Int32? {
        let isChosen = plan.withLock { plan in
            plan.calls += 1
            return plan.failing.contains(plan.calls)
        }
        return isChosen || fails() ? errno : nil
    }

    /// Counts a call; returns whether it is to fail.
    package func strikes() -> Bool { next() != nil }
}
