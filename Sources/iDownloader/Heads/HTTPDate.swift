// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownState

/// Reads the three forms of a date in HTTP (RFC 9110 section 5.6.7).
enum HTTPDate {
    /// Returns the time that the field gives; nil if it is no date.
    static func parse(_ field: [UInt8]) -> WallTime? {
        // Splits at the separators of all three forms. The weekday is not needed.
        let words = field.split { $0 == 0x20 || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "-") }
        let isASCTime = !field.contains(UInt8(ascii: ","))
        guard words.count == (isASCTime ? 5 : 6) else { return nil }
        guard isASCTime || words[5].isWord("gmt") || words[5].isWord("utc") else { return nil }
        let (dayWord, month) = isASCTime ? (words[2], words[1]) : (words[1], words[2])
        let (clock, yearWord) = isASCTime ? (words[3], words[4]) : (words[4], words[3])
        let parts = clock.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ $0.count == 2 }),
            (1...2).contains(dayWord.count),
            let hour = parts[0].decimal, (0...23).contains(hour),
            let minute = parts[1].decimal, (0...59).contains(minute),
            // 60 is a leap second.
            let second = parts[2].decimal, (0...60).contains(second),
            let index = months.firstIndex(where: { month.isWord($0) }),
            let year = fullYear(yearWord), let day = dayWord.decimal,
            let midnight = midnight(year: year, month: index, day: day)
        else { return nil }
        let seconds = midnight + hour * 3600 + minute * 60 + second
        return WallTime(microseconds: seconds * 1_000_000)
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

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

    /// Returns the seconds from 1970 to the day's beginning; nil for a day that its month lacks;
    /// timegm(3).
    private static func midnight(year: Int64, month: Int, day: Int64) -> Int64? {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (
            Int32(year) - 1900, Int32(month), Int32(day)
        )
        let seconds = timegm(&parts)
        // The C library takes 31 April for 1 May, and changes the parts accordingly.
        return Int64(parts.tm_mday) == day ? Int64(seconds) : nil
    }
}
