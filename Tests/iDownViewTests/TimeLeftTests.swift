// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

@Suite struct TimeLeftTests {
    @Test(
        arguments: [
            (0, "0s"),
            (59, "59s"),
            (60, "1m00s"),
            (192, "3m12s"),
            (3599, "59m59s"),
            (3600, "1h00m"),
            (7500, "2h05m"),
            (86_399, "23h59m"),
            (86_400, "1d00h"),
            (273_600, "3d04h"),
            (8_639_999, "99d23h"),
            (8_640_000, ">99d"),
            (UInt64.max, ">99d"),
        ] as [(UInt64, String)]
    )
    func `a time shows its two largest units`(seconds: UInt64, text: String) {
        #expect(TimeLeft(seconds: seconds).description == text)
    }

    @Test func `a part of a second is rounded up`() {
        #expect(TimeLeft(remaining: 1001, bytesPerSecond: 1000)?.seconds == 2)
        #expect(TimeLeft(remaining: 1000, bytesPerSecond: 1000)?.seconds == 1)
        #expect(TimeLeft(remaining: .max, bytesPerSecond: 1)?.seconds == .max)
    }

    @Test func `without a speed there is no time left`() {
        #expect(TimeLeft(remaining: 1, bytesPerSecond: 0) == nil)
    }
}
