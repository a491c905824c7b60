// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct MomentTests {
    @Test(
        arguments: [
            (1_000_000, .seconds(2), 3_000_000),
            (1_000_000, .seconds(-2), -1_000_000),
            (0, .nanoseconds(1_999), 1),
            (0, .nanoseconds(-1_999), -1),
            (.max, .microseconds(1), .max),
            (.min, .microseconds(-1), .min),
            (0, .seconds(Int64.max), .max),
            (0, .seconds(Int64.min), .min),
        ] as [(Int64, Duration, Int64)]
    )
    func `a point is moved by microseconds and stops at either end of time`(
        start: Int64,
        step: Duration,
        end: Int64
    ) {
        #expect(WallTime(microseconds: start).advanced(by: step).microseconds == end)
    }

    @Test(
        arguments: [
            (5_000_000, 2_000_000, .seconds(3)),
            (2_000_000, 5_000_000, .seconds(-3)),
            (7, 7, .zero),
            (.max, .min, .microseconds(Int64.max)),
            (.min, .max, .microseconds(Int64.min)),
        ] as [(Int64, Int64, Duration)]
    )
    func `the time between two points is negative backwards and never overflows`(
        later: Int64,
        earlier: Int64,
        between: Duration
    ) {
        let point = WallTime(microseconds: later)
        #expect(point.since(WallTime(microseconds: earlier)) == between)
    }

    @Test(
        arguments: [
            (.zero, 0),
            (.milliseconds(1), 1_000),
            (.nanoseconds(999), 0),
            (.nanoseconds(-999), 0),
            (.seconds(Int64.max), .max),
            (.seconds(Int64.min), .min),
            (.microseconds(Int64.max), .max),
            (.microseconds(Int64.min), .min),
            (.microseconds(Int64.max) + .seconds(1), .max),
            (.microseconds(Int64.min) - .seconds(1), .min),
        ] as [(Duration, Int64)]
    )
    func `whole microseconds are rounded towards zero and held within 64 bits`(
        duration: Duration,
        microseconds: Int64
    ) {
        #expect(duration.wholeMicroseconds == microseconds)
    }

    @Test(arguments: [
        (-1, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "120 min"), (7200, "2 h"),
        (86_400, "24 h"), (172_800, "2 days"), (1_000_000_000, "11575 days"),
        (Int64.max, "106751991167301 days"),
    ])
    func `a duration is shown in a unit that people read`(seconds: Int64, text: String) {
        #expect(Duration.seconds(seconds).roundedUp == text)
    }

    @Test func `points are ordered by time`() {
        #expect(WallTime(microseconds: -1) < WallTime(microseconds: 0))
        #expect(!(WallTime(microseconds: 0) < WallTime(microseconds: 0)))
    }
}
