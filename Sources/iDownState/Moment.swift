// SPDX-License-Identifier: Apache-2.0

/// A calendar time, for people and for the record: microseconds since 1970-01-01 UTC.
///
/// It jumps when the clock is set, so nothing is timed by it.
package struct WallTime: Hashable, Comparable, Sendable {
    package let microseconds: Int64

    package init(microseconds: Int64) { self.microseconds = microseconds }

    package static func < (left: WallTime, right: WallTime) -> Bool {
        left.microseconds < right.microseconds
    }

    /// Returns the time `duration` later, or the last one that can be represented.
    package func advanced(by duration: Duration) -> WallTime {
        let (sum, overflow) = microseconds.addingReportingOverflow(duration.wholeMicroseconds)
        return WallTime(microseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// Returns the time from `earlier` to this time; negative where `earlier` is later.
    package func since(_ earlier: WallTime) -> Duration {
        let (difference, overflow) = microseconds.subtractingReportingOverflow(earlier.microseconds)
        return .microseconds(overflow ? (self < earlier ? .min : .max) : difference)
    }
}

extension Duration {
    /// The duration as people read it, rounded up to whole seconds, minutes, hours or days.
    package var roundedUp: String {
        let seconds = max(0, components.seconds)
        let count = { (unit: Int64) in (max(1, seconds) - 1) / unit + 1 }
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(count(60)) min"
        case ..<172_800: "\(count(3600)) h"
        default: "\(count(86_400)) days"
        }
    }

    /// The duration in microseconds, rounded towards zero and clamped to 64 bits.
    package var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }
}
