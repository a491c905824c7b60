// SPDX-License-Identifier: Apache-2.0

import iDownState

/// Reads how long a server asks not to be contacted (RFC 9110 section 10.2.3).
enum RetryAfter {
    /// The longest wait, ten years: it means never, and no later arithmetic can overflow.
    private static let longest: Int64 = 10 * 365 * 86_400
    /// The longest wait computed with this computer's clock: one hour, because the clock may be
    /// wrong.
    private static let longestByOwnClock: Duration = .seconds(3600)

    /// Returns the wait that the field gives in seconds, or as a date relative to the response's
    /// Date.
    ///
    /// With the response's Date, this computer's clock need not be right.
    ///
    /// - Parameters:
    ///   - field: the value of the field.
    ///   - responseDate: the response's Date; nil if it has none.
    ///   - now: this computer's time, used if the response has no Date; the wait is then at most an
    ///     hour because the clock may be wrong. Nil if unknown.
    /// - Returns: nil if the field is neither, or is a date that can be compared with no other.
    static func parse(
        _ field: [UInt8],
        responseDate: WallTime?,
        now: WallTime? = nil
    ) -> Duration? {
        if !field.isEmpty, field.allSatisfy(\.isDigit) {
            return .seconds(min(field.decimal ?? longest, longest))
        }
        guard let date = HTTPDate.parse(field) else { return nil }
        if let responseDate { return min(max(date.since(responseDate), .zero), .seconds(longest)) }
        guard let now else { return nil }
        return min(max(date.since(now), .zero), longestByOwnClock)
    }
}
