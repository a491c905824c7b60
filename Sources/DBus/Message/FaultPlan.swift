// SPDX-License-Identifier: Apache-2.0

private import Synchronization

/// Makes the n-th call into libdbus fail, for tests, and counts the calls.
package final class FaultPlan: Sendable {
    private struct Plan {
        var calls = 0
        var failing: Int?
    }

    private let plan: Mutex<Plan>

    /// Plans one failure.
    ///
    /// - Parameter n: Which call fails, counted from 1; with nil, none fails and calls are only
    ///   counted.
    package init(failing n: Int? = nil) {
        plan = Mutex(Plan(failing: n))
    }

    /// The number of calls so far.
    package var calls: Int {
        plan.withLock { $0.calls }
    }

    /// Makes the n-th call from now on fail, counted from 1, instead of the call planned before.
    package func failNext(_ n: Int) {
        plan.withLock { $0.failing = $0.calls + n }
    }

    /// Counts one call and returns whether that call fails.
    func failsNext() -> Bool {
        plan.withLock { plan in
            plan.calls += 1
            return plan.calls == plan.failing
        }
    }
}
