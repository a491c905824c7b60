// SPDX-License-Identifier: Apache-2.0

/// A range of a file's bytes: `length` bytes from offset `first` on.
///
/// A range is never empty and never ends after 2⁶³ − 1.
package struct ByteRange: Hashable, Sendable {
    /// The offset of the first byte, 0 or more.
    package let first: Int64
    /// How many bytes, 1 or more.
    package let length: Int64

    /// Returns nil for a negative offset, for no bytes, and for an end after 2⁶³ − 1.
    package init?(first: Int64, length: Int64) {
        guard first >= 0, length > 0, !first.addingReportingOverflow(length).overflow else {
            return nil
        }
        self.first = first
        self.length = length
    }

    /// Returns nil where `first` is negative, and where `end` is not after `first`.
    package init?(from first: Int64, to end: Int64) {
        let (length, overflow) = end.subtractingReportingOverflow(first)
        guard !overflow else { return nil }
        self.init(first: first, length: length)
    }

    /// The offset after the last byte.
    package var end: Int64 { first + length }
}
