// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A failed system call on a file.
package struct FileFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the call, as its manual page has it.
    package let operation: String
    package let path: String
    /// The errno.
    package let code: Int32

    package var description: String {
        "\(operation) \(path): \(String(cString: strerror(code)))"
    }
}

/// Makes one system call of this module fail in a test, by its number.
package final class FileFaults: Sendable {
    private struct Plan {
        var calls = 0
        var failing: Int?
    }

    private let code: Int32
    private let plan: Mutex<Plan>

    /// - Parameters:
    ///   - failing: the number of the call that fails, counted from 1; nil only counts calls.
    ///   - code: the errno with which it fails.
    package init(failing: Int? = nil, with code: Int32 = EIO) {
        self.code = code
        self.plan = Mutex(Plan(failing: failing))
    }

    /// The number of calls so far.
    package var calls: Int { plan.withLock { $0.calls } }

    /// Counts a call, and returns the errno with which it is to fail, or nil.
    func next() -> Int32? {
        plan.withLock { plan in
            plan.calls += 1
            return plan.calls == plan.failing ? code : nil
        }
    }
}
