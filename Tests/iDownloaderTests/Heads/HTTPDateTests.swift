// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@testable import iDownloader

@Suite struct HTTPDateTests {
    private func seconds(_ text: String) -> Int64? {
        HTTPDate.parse(Array(text.utf8)).map { $0.microseconds / 1_000_000 }
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ("Thu, 29 Feb 2024 12:00:00 UTC", 1_709_208_000),
        ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
        ("Mon, 31 Dec 2068 23:59:59 GMT", 3_124_223_999),
        ("Friday, 31-Dec-99 23:59:59 GMT", 946_684_799),
        ("Friday, 01-Jan-38 00:00:00 GMT", 2_145_916_800),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ("Mon, 01 Jan 1900 00:00:00 GMT", -2_208_988_800),
        ("sun, 06 nov 1994 08:49:37 gmt", 784_111_777),
    ])
    func `a date is a point in time`(text: String, expected: Int64) {
        #expect(seconds(text) == expected)
    }

    @Test(arguments: [
        "", "0", "-1", "Sun", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 31 Apr 1994 08:49:37 GMT", "Wed, 29 Feb 2023 00:00:00 GMT",
        "Wed, 29 Feb 1900 00:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 94444 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "784111777",
        "Sun, 006 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z",
    ])
    func `what is no date is none`(text: String) {
        #expect(seconds(text) == nil)
    }

    @Test func `the days of four centuries follow each other`() throws {
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        var last = try #require(seconds("Mon, 31 Dec 1799 00:00:00 GMT"))
        var days = 0
        for year in 1800...2199 {
            for month in months {
                for day in 1...31 {
                    guard let time = seconds("Mon, \(day) \(month) \(year) 00:00:00 GMT") else {
                        #expect(day > 28)
                        continue
                    }
                    #expect(time == last + 86_400)
                    last = time
                    days += 1
                }
            }
        }
        #expect(days == 146_097)
    }
}
