// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization

/// Makes commits fail in tests, as if the disk were full when SQLite makes the commit durable.
package final class CommitFaults: Sendable {
    private struct Plan {
        var commits = 0
        var failing: Set<Int>
    }

    private let plan: Mutex<Plan>
    private let fails: @Sendable () -> Bool

    /// - Parameters:
    ///   - failing: the numbers of the commits that fail, counted from 1.
    ///   - fails: called before each commit; answers whether it fails.
    package init(failing: Set<Int> = [], fails: @escaping @Sendable () -> Bool = { false }) {
        self.plan = Mutex(Plan(failing: failing))
        self.fails = fails
    }

    /// The number of commits so far, including failed ones.
    package var commits: Int { plan.withLock { $0.commits } }

    /// Makes one commit fail: the one after the next `count` commits.
    package func failNext(after count: Int = 0) {
        plan.withLock { _ = $0.failing.insert($0.commits + count + 1) }
    }

    /// Counts a commit just before COMMIT, and throws if it is to fail.
    func check() throws(StoreFailure) {
        let isChosen = plan.withLock { plan in
            plan.commits += 1
            return plan.failing.contains(plan.commits)
        }
        guard isChosen || fails() else { return }
        throw .database(
            code: ResultCode.SQLITE_IOERR_FSYNC.rawValue,
            message: "injected: disk error"
        )
    }
}
