// SPDX-License-Identifier: Apache-2.0

/// A stretch of a file, `length` bytes from `first` on.
///
/// Never empty, never past 2⁶³ − 1.
package struct ByteRange: Hashable, Sendable {
    /// The offset of the first byte, 0 or more.
    package let first: Int64
    /// How many bytes, 1 or more.
    package let length: Int64

    /// Nil for what is no range: a negative offset, no bytes, or an end that does not fit.
    package init?(first: Int64, length: Int64) {
        guard first >= 0, length > 0, !first.addingReportingOverflow(length).overflow else {
            return nil
        }
        self.first = first
        self.length = length
    }

    /// Nil where `end` does not lie behind `first`.
    package init?(from first: Int64, to end: Int64) {
        let (length, overflow) = end.subtractingReportingOverflow(first)
        guard !overflow else { return nil }
        self.init(first: first, length: length)
    }

    /// The offset behind the last byte.
    package var end: Int64 { first + length }
}
