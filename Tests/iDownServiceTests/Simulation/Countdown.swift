// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// So many are left.
final class Countdown: Sendable {
    private let left = Mutex(0)

    func set(_ count: Int) { left.withLock { $0 = count } }

    var isSet: Bool { left.withLock { $0 > 0 } }

    /// Whether there was one left to take.
    func takeOne() -> Bool {
        left.withLock { left in
            guard left > 0 else { return false }
            left -= 1
            return true
        }
    }
}
