// SPDX-License-Identifier: Apache-2.0

/// How many connections to one file of a host were found useful.
package struct UsefulConnections: Hashable, Sendable {
    /// 1 to ``HostLimits/most``.
    package var count: Int
    /// Whether the trial ended because no more connections were allowed, not because more were
    /// useless.
    package var mayBeMore: Bool

    package init(_ count: Int, mayBeMore: Bool = false) {
        self.count = count
        self.mayBeMore = mayBeMore
    }
}
