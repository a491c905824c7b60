// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts from wherever something happens.
final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    var count: Int { value.load(ordering: .relaxed) }

    func add() { value.wrappingAdd(1, ordering: .relaxed) }
}
