// SPDX-License-Identifier: Apache-2.0

import iDownState

/// How long a server asks to be left alone (RFC 9110 section 10.2.3).
enum RetryAfter {
    /// Ten years: what says more says never, and no later arithmetic can overflow.
    private static let longest: Int64 = 10 * 365 * 86_400
    /// What our own clock makes of a date is never more than an hour, since it may be wrong.
    private static let longestByOwnClock: Duration = .seconds(3600)

    /// Seconds, or a date taken against the response's own Date, so that no clock of ours need be
    /// right.
    ///
    /// - Parameters:
    ///   - field: the value of the field.
    ///   - responseDate: the response's Date; nil where it has none.
    ///   - now: our own clock, which is asked only then, and may be wrong: what it makes of a date
    ///     is never more than an hour. Nil has no clock.
    /// - Returns: nil for what is neither, and for a date that there is nothing to hold against.
    static func parse(
        _ field: [UInt8],
        responseDate: WallTime?,
        now: WallTime? = nil
    ) -> Duration? {
        if !field.isEmpty, field.allSatisfy(\.isDigit) {
            return .seconds(min(field.decimal ?? longest, longest))
        }
        guard let date = HTTPDate.parse(field) else { return nil }
        if let responseDate {
            return min(max(date.since(responseDate), .zero), .seconds(longest))
        }
        guard let now else { return nil }
        return min(max(date.since(now), .zero), longestByOwnClock)
    }
}
