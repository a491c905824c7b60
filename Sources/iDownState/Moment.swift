// SPDX-License-Identifier: Apache-2.0

/// A point on the calendar, for people and for the record: microseconds since 1970-01-01 UTC.
///
/// It jumps when the clock is set; nothing is timed by it.
package struct WallTime: Hashable, Comparable, Sendable {
    package let microseconds: Int64

    package init(microseconds: Int64) { self.microseconds = microseconds }

    package static func < (left: WallTime, right: WallTime) -> Bool {
        left.microseconds < right.microseconds
    }

    /// The point that lies `duration` later, or the last one there is.
    package func advanced(by duration: Duration) -> WallTime {
        let (sum, overflow) = microseconds.addingReportingOverflow(duration.wholeMicroseconds)
        return WallTime(microseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// The time from `earlier` to this point; negative when `earlier` is later.
    package func since(_ earlier: WallTime) -> Duration {
        let (difference, overflow) =
            microseconds.subtractingReportingOverflow(earlier.microseconds)
        return .microseconds(overflow ? (self < earlier ? .min : .max) : difference)
    }
}

extension Duration {
    /// The duration in microseconds, rounded towards zero and held within 64 bits.
    package var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }
}
