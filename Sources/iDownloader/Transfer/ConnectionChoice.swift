// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// How many connections somebody has chosen for a task, which may change while it runs.
final class ConnectionChoice: Sendable {
    /// 0 for none.
    private let stored: Atomic<Int>

    init(_ number: Int?) { stored = Atomic(number ?? 0) }

    /// The most at once; nil takes the engine's number.
    var number: Int? {
        get {
            let number = stored.load(ordering: .relaxed)
            return number > 0 ? number : nil
        }
        set { stored.store(newValue ?? 0, ordering: .relaxed) }
    }
}
