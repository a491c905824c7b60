// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Makes the n-th call into libcurl fail, so that a test can walk through every failure.
///
/// A call that is made to fail is not made at all: the effect is that of a library which refused
/// before it did anything.
package final class CurlFaultPlan: Sendable {
    private let target: Int?
    private let counter = Atomic<Int>(0)

    /// - Parameter n: Which call fails, counted from 1; nil counts and lets all calls pass.
    package init(failing n: Int? = nil) { target = n }

    /// How many calls have come by, the failed one included.
    package var calls: Int { counter.load(ordering: .relaxed) }

    /// Counts a call; true where it is the one to fail.
    func strikes() -> Bool {
        counter.wrappingAdd(1, ordering: .relaxed).newValue == target
    }
}
