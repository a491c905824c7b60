// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A system call on a file that failed.
package struct FileFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call, as its manual page is named.
    package let operation: String
    package let path: String
    /// The errno.
    package let code: Int32

    package var description: String {
        "\(operation) \(path): \(String(cString: strerror(code)))"
    }
}

/// Makes the n-th system call of this room fail, in a test.
package final class FileFaults: Sendable {
    private struct Plan {
        var calls = 0
        var failing: Int?
    }

    private let code: Int32
    private let plan: Mutex<Plan>

    /// - Parameters:
    ///   - failing: the number of the call to fail, counted from 1; nil fails none and counts.
    ///   - code: the errno that it fails with.
    package init(failing: Int? = nil, with code: Int32 = EIO) {
        self.code = code
        self.plan = Mutex(Plan(failing: failing))
    }

    /// How many calls there were.
    package var calls: Int { plan.withLock { $0.calls } }

    /// Counts a call; the errno that it is to fail with, or nil.
    func next() -> Int32? {
        plan.withLock { plan in
            plan.calls += 1
            return plan.calls == plan.failing ? code : nil
        }
    }
}
