// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization

/// Makes commits fail, in a test: the disk is full just when SQLite is to make it durable.
package final class CommitFaults: Sendable {
    private struct Plan {
        var commits = 0
        var failing: Set<Int>
    }

    private let plan: Mutex<Plan>
    private let fails: @Sendable () -> Bool

    /// - Parameters:
    ///   - failing: the numbers of the commits to fail, counted from 1.
    ///   - fails: asked right before each commit whether it is to fail.
    package init(failing: Set<Int> = [], fails: @escaping @Sendable () -> Bool = { false }) {
        self.plan = Mutex(Plan(failing: failing))
        self.fails = fails
    }

    /// How many commits there were, failed ones included.
    package var commits: Int { plan.withLock { $0.commits } }

    /// Makes the commit after the next `count` fail.
    package func failNext(after count: Int = 0) {
        plan.withLock { _ = $0.failing.insert($0.commits + count + 1) }
    }

    /// Counts a commit, right before COMMIT.
    func check() throws(StoreFailure) {
        let isChosen = plan.withLock { plan in
            plan.commits += 1
            return plan.failing.contains(plan.commits)
        }
        guard isChosen || fails() else { return }
        throw .database(code: ResultCode.SQLITE_FULL.rawValue, message: "injected: disk is full")
    }
}
