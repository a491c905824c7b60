// SPDX-License-Identifier: Apache-2.0

/// How long a download still takes, in its two largest units: `45s`, `3m12s`, `2h05m`, `3d04h`.
package struct TimeLeft: Hashable, Sendable, CustomStringConvertible {
    package let seconds: UInt64

    package init(seconds: UInt64) { self.seconds = seconds }

    /// Calculates the time for the remaining bytes, rounded up; nil if the speed is 0.
    package init?(remaining bytes: UInt64, bytesPerSecond: UInt64) {
        guard bytesPerSecond > 0 else { return nil }
        let (quotient, remainder) = bytes.quotientAndRemainder(dividingBy: bytesPerSecond)
        seconds = quotient + (remainder > 0 ? 1 : 0)
    }

    package var description: String {
        let minutes = seconds / 60
        let hours = minutes / 60
        let days = hours / 24
        let values = [
            "seconds": seconds < 60 ? "\(seconds)" : Self.twoDigits(seconds % 60),
            "minutes": minutes < 60 ? "\(minutes)" : Self.twoDigits(minutes % 60),
            "hours": hours < 24 ? "\(hours)" : Self.twoDigits(hours % 24),
            "days": "\(days)",
        ]
        return switch seconds {
        case ..<60: translated("{seconds}s", values)
        case ..<3600: translated("{minutes}m{seconds}s", values)
        case ..<86_400: translated("{hours}h{minutes}m", values)
        case ..<Self.limit: translated("{days}d{hours}h", values)
        default: translated(">99d")
        }
    }

    /// Times of 100 days and more are shown as `>99d`, which keeps the column narrow.
    private static let limit: UInt64 = 100 * 86_400

    private static func twoDigits(_ number: UInt64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
