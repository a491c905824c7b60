// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

@Suite struct RateAverageTests {
    @Test func `the first sample is the average`() {
        var average = RateAverage()
        #expect(average.bytesPerSecond == 0)
        average.add(1000, at: 3)
        #expect(average.bytesPerSecond == 1000)
    }

    @Test func `the wait for the first byte does not count`() {
        var average = RateAverage()
        average.add(0, at: 0)
        average.add(0, at: 1)
        average.add(1000, at: 1.5)
        #expect(average.bytesPerSecond == 1000)
    }

    @Test func `after the half-time a new speed counts one half`() {
        var average = RateAverage()
        average.add(1000, at: 0)
        average.add(3000, at: RateAverage.halfTime)
        #expect(average.bytesPerSecond == 2000)
    }

    @Test func `a short burst changes the average little`() {
        var average = RateAverage()
        average.add(1000, at: 0)
        average.add(10_000, at: 0.5)
        #expect((1000...2000).contains(average.bytesPerSecond))
    }

    @Test func `a clock that stands still or goes back changes nothing`() {
        var average = RateAverage()
        average.add(1000, at: 5)
        average.add(9000, at: 5)
        average.add(9000, at: 1)
        #expect(average.bytesPerSecond == 1000)
    }

    @Test func `the average starts afresh after a reset`() {
        var average = RateAverage()
        average.add(1000, at: 0)
        average.reset()
        #expect(average.bytesPerSecond == 0)
        average.add(50, at: 9)
        #expect(average.bytesPerSecond == 50)
    }
}
