// SPDX-License-Identifier: Apache-2.0

import iDownState

/// Reads the three forms of a date in HTTP (RFC 9110 section 5.6.7).
enum HTTPDate {
    /// Returns the time that the field gives; nil if it is no date.
    static func parse(_ field: [UInt8]) -> WallTime? {
        // Splits at the separators of all three forms. The weekday is not needed.
        let words = field.split { $0 == 0x20 || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "-") }
        let isASCTime = !field.contains(UInt8(ascii: ","))
        if isASCTime {
            guard words.count == 5 else { return nil }
            return time(day: words[2], month: words[1], year: words[4], clock: words[3])
        }
        guard words.count == 6, words[5].isWord("gmt") || words[5].isWord("utc") else { return nil }
        return time(day: words[1], month: words[2], year: words[3], clock: words[4])
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private static func time(
        day: ArraySlice<UInt8>,
        month: ArraySlice<UInt8>,
        year: ArraySlice<UInt8>,
        clock: ArraySlice<UInt8>
    ) -> WallTime? {
        let parts = clock.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ $0.count == 2 }), (1...2).contains(day.count),
            let hour = parts[0].decimal, (0...23).contains(hour),
            let minute = parts[1].decimal, (0...59).contains(minute),
            // 60 is a leap second.
            let second = parts[2].decimal, (0...60).contains(second),
            let index = months.firstIndex(where: { month.isWord($0) }),
            let year = fullYear(year), let day = day.decimal,
            let days = daysSinceEpoch(year: year, month: Int64(index) + 1, day: day)
        else { return nil }
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        return WallTime(microseconds: seconds * 1_000_000)
    }

    /// Returns the year of four digits, or of the two digits of RFC 850, which mean 1970 to 2069.
    ///
    /// RFC 9110 interprets two digits relative to today. Here the result does not depend on a
    /// clock.
    private static func fullYear(_ text: ArraySlice<UInt8>) -> Int64? {
        guard let year = text.decimal else { return nil }
        switch text.count {
        case 2: return year + (year < 70 ? 2000 : 1900)
        case 4: return year
        default: return nil
        }
    }

    /// Returns days since 1970-01-01 in the Gregorian calendar; nil for a day that its month lacks.
    private static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64? {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        let index = Int(month) - 1
        guard lengths.indices.contains(index), (1...lengths[index]).contains(day) else {
            return nil
        }
        // Leap days before this year; year 0 counts as a leap year. Numbers are too small to
        // overflow.
        let before = year - 1
        let leapDays = before >= 0 ? before / 4 - before / 100 + before / 400 + 1 : 0
        let leapDaysBefore1970: Int64 = 1969 / 4 - 1969 / 100 + 1969 / 400 + 1
        return (year - 1970) * 365 + leapDays - leapDaysBefore1970
            + lengths[..<index].reduce(0, +) + day - 1
    }
}
