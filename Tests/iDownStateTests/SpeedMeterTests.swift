// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct SpeedMeterTests {
    @Test func `the speed is what came in a full window, by the second`() {
        var meter = SpeedMeter(bytes: 1_000, at: .seconds(10))
        meter.read(bytes: 2_000, at: .milliseconds(10_500))
        #expect(meter.bytesPerSecond == 2_000)
        meter.read(bytes: 2_000 + 3_000, at: .milliseconds(12_000))
        #expect(meter.bytesPerSecond == 2_000)
        meter.read(bytes: 5_000 + 300, at: .milliseconds(12_500))
        #expect(meter.bytesPerSecond == 600)
    }

    @Test func `nothing is said before the first window is full`() {
        var meter = SpeedMeter(bytes: 0, at: .zero)
        #expect(meter.bytesPerSecond == 0)
        meter.read(bytes: 1_000_000, at: .milliseconds(499))
        #expect(meter.bytesPerSecond == 0)
    }

    @Test func `readings within a window are not lost to the next one`() {
        var meter = SpeedMeter(bytes: 0, at: .zero)
        for step in 1...5 { meter.read(bytes: Int64(step) * 100, at: .milliseconds(step * 100)) }
        #expect(meter.bytesPerSecond == 1_000)
    }

    @Test func `a line that went silent comes down to nothing`() {
        var meter = SpeedMeter(bytes: 0, at: .zero)
        meter.read(bytes: 500, at: .milliseconds(500))
        meter.read(bytes: 500, at: .milliseconds(1_000))
        #expect(meter.bytesPerSecond == 0)
    }

    @Test func `bytes that were given up are no negative speed`() {
        var meter = SpeedMeter(bytes: 5_000, at: .zero)
        meter.read(bytes: 0, at: .seconds(1))
        #expect(meter.bytesPerSecond == 0)
        meter.read(bytes: 700, at: .seconds(2))
        #expect(meter.bytesPerSecond == 700)
    }

    @Test func `a clock that stands still or goes back changes nothing`() {
        var meter = SpeedMeter(bytes: 0, at: .seconds(5))
        meter.read(bytes: 100, at: .seconds(5))
        meter.read(bytes: 200, at: .seconds(4))
        #expect(meter.bytesPerSecond == 0)
    }

    @Test func `the greatest number of bytes is no trap`() {
        var meter = SpeedMeter(bytes: 0, at: .zero)
        meter.read(bytes: .max, at: .seconds(1))
        #expect(meter.bytesPerSecond == 1 << 63)
    }
}
