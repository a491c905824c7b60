// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Makes the n-th call into libcurl fail, so that a test can try every failure.
///
/// The failing call is not made, as if the library had refused it before it did anything.
package final class CurlFaultPlan: Sendable {
    private let target: Int?
    private let counter = Atomic<Int>(0)

    /// - Parameter n: Which call fails, counted from 1; nil only counts the calls.
    package init(failing n: Int? = nil) { target = n }

    /// How many calls were counted, the failing one included.
    package var calls: Int { counter.load(ordering: .relaxed) }

    /// Counts a call; returns true for the one to fail.
    func strikes() -> Bool {
        counter.wrappingAdd(1, ordering: .relaxed).newValue == target
    }
}
