// SPDX-License-Identifier: Apache-2.0

import iDownState

/// How long a server asks to be left alone (RFC 9110 section 10.2.3).
enum RetryAfter {
    /// Ten years: what says more says never, and no later arithmetic can overflow.
    private static let longest: Int64 = 10 * 365 * 86_400

    /// Seconds, or a date taken against the response's own Date, so that no clock of ours need be
    /// right; nil for neither, and for a date without a Date to hold it against.
    static func parse(_ field: [UInt8], responseDate: WallTime?) -> Duration? {
        if !field.isEmpty, field.allSatisfy(\.isDigit) {
            return .seconds(min(field.decimal ?? longest, longest))
        }
        guard let date = HTTPDate.parse(field), let responseDate else { return nil }
        return min(max(date.since(responseDate), .zero), .seconds(longest))
    }
}
