// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct RateMeterTests {
    @Test func `one reading says nothing`() {
        #expect(RateMeter(count: 5, at: .zero).perSecond == nil)
    }

    @Test func `too short a time says nothing`() {
        var meter = RateMeter(count: 0, at: .zero)
        meter.read(1000, at: .milliseconds(10))
        #expect(meter.perSecond == nil)
    }

    @Test func `before the window is full the rate is that since the start`() {
        var meter = RateMeter(count: 100, at: .seconds(5))
        meter.read(300, at: .seconds(5) + .milliseconds(100))
        #expect(meter.perSecond == 2000)
    }

    @Test func `what lies before the last second no longer counts`() {
        var meter = RateMeter(count: 0, at: .zero)
        for tick in 1...10 { meter.read(Int64(tick) * 1000, at: .milliseconds(100) * tick) }
        #expect(meter.perSecond == 10_000)
        for tick in 11...20 { meter.read(10_000, at: .milliseconds(100) * tick) }
        #expect(meter.perSecond == 0)
        #expect(meter.span == .seconds(1))
    }

    @Test func `a reading that comes late counts for all of its time`() {
        var meter = RateMeter(count: 0, at: .zero)
        meter.read(100, at: .milliseconds(100))
        meter.read(5000, at: .seconds(5))
        #expect(meter.perSecond == 1000)
    }

    @Test func `time that stands still and counts that fall do no harm`() {
        var meter = RateMeter(count: 50, at: .seconds(1))
        meter.read(60, at: .seconds(1))
        meter.read(10, at: .seconds(2))
        #expect(meter.perSecond == 0)
        meter.read(.max, at: .seconds(3))
        #expect(meter.perSecond != nil)
    }
}
