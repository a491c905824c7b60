// SPDX-License-Identifier: Apache-2.0

/// How many connections to one file of a host were found to be of use.
package struct UsefulConnections: Hashable, Sendable {
    /// 1 to ``HostLimits/most``.
    package var count: Int
    /// Whether the trial ended where no more were allowed, and not where more brought no more.
    package var mayBeMore: Bool

    package init(_ count: Int, mayBeMore: Bool = false) {
        self.count = count
        self.mayBeMore = mayBeMore
    }
}
