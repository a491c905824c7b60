// SPDX-License-Identifier: Apache-2.0

package import iDownState

/// How many tasks there are in each state.
package struct TaskCounts: Hashable, Sendable {
    private var counts: [TaskState.Kind: Int] = [:]

    package init() {}

    /// The number of tasks in a state, 0 or more.
    package subscript(kind: TaskState.Kind) -> Int {
        get { counts[kind, default: 0] }
        set { counts[kind] = newValue }
    }

    /// The number of all tasks; it does not overflow, whatever counts a damaged list has.
    package var total: Int {
        counts.values.reduce(0) { total, count in
            let (sum, overflow) = total.addingReportingOverflow(count)
            return overflow ? .max : sum
        }
    }
}
