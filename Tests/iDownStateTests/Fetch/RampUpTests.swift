// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

@Suite struct RampUpTests {
    /// A large file at a server that gives each connection so much.
    private func reading(
        _ open: Int,
        pending: Int = 0,
        rate: Int64? = nil,
        left: Int64 = 1 << 32,
        isThrottled: Bool = false
    ) -> RampUp.Reading {
        RampUp.Reading(
            open: open,
            pending: pending,
            bytesPerSecond: rate ?? Int64(open) << 20,
            bytesLeft: left,
            headTime: .milliseconds(30),
            isThrottled: isThrottled
        )
    }

    @Test func `one, two, four, eight, a tenth of a second apart`() {
        var ramp = RampUp(known: nil, at: .zero)
        var seen = [ramp.wanted]
        for tick in 1...4 {
            ramp.advance(reading(ramp.wanted), ceiling: 8, at: .milliseconds(100) * tick)
            seen.append(ramp.wanted)
        }
        #expect(seen == [1, 2, 4, 8, 8])
    }

    @Test func `never past the ceiling`() {
        var ramp = RampUp(known: nil, at: .zero)
        for tick in 1...40 {
            ramp.advance(reading(ramp.wanted), ceiling: 6, at: .milliseconds(100) * tick)
        }
        #expect(ramp.wanted == 6)
        #expect(ramp.finding == 6)
    }

    @Test func `a step waits for the heads of the one before`() {
        var ramp = RampUp(known: nil, at: .zero)
        ramp.advance(reading(1, pending: 1), ceiling: 8, at: .seconds(1))
        #expect(ramp.wanted == 1)
        ramp.advance(reading(1), ceiling: 8, at: .seconds(1))
        #expect(ramp.wanted == 2)
        // The host gave one alone.
        ramp.advance(reading(1), ceiling: 8, at: .seconds(2))
        #expect(ramp.wanted == 2)
    }

    @Test func `a long way to the server makes long steps`() {
        var ramp = RampUp(known: nil, at: .zero)
        var far = reading(1)
        far.headTime = .milliseconds(600)
        ramp.advance(far, ceiling: 8, at: .milliseconds(500))
        #expect(ramp.wanted == 1)
        ramp.advance(far, ceiling: 8, at: .milliseconds(600))
        #expect(ramp.wanted == 2)
    }

    @Test func `a step that brings nothing is taken back after two seconds`() {
        var ramp = RampUp(known: nil, at: .zero)
        var time = Duration.zero
        func run(until end: Duration) {
            while time < end {
                time += .milliseconds(100)
                // The line is full with one.
                ramp.advance(reading(ramp.wanted, rate: 1 << 20), ceiling: 8, at: time)
            }
        }
        run(until: .seconds(1))
        #expect(ramp.wanted == 8)
        run(until: .milliseconds(2400))
        #expect(ramp.wanted == 4)
        run(until: .milliseconds(4500))
        #expect(ramp.wanted == 2)
        #expect(ramp.finding == nil)
        run(until: .seconds(7))
        #expect(ramp.wanted == 1)
        #expect(ramp.finding == nil)
        run(until: .seconds(9))
        #expect(ramp.finding == 1)
        run(until: .seconds(60))
        #expect(ramp.wanted == 1)
    }

    /// nginx counts from a second before the request, and others fill a bucket first.
    @Test(arguments: [2, 4, 8])
    func `a host whose first second is fast gets all connections that are of use`(served: Int) {
        var ramp = RampUp(known: nil, at: .zero)
        var fewest = 8
        for tick in 1...100 {
            let open = min(ramp.wanted, served)
            let rate = Int64(open) << (tick < 10 ? 24 : 20)
            ramp.advance(reading(open, rate: rate), ceiling: 8, at: .milliseconds(100) * tick)
            if tick > 10 { fewest = min(fewest, ramp.wanted) }
        }
        #expect(ramp.wanted == served)
        #expect(ramp.finding == served)
        // One look at less than all of them has to do.
        #expect(fewest >= served / 2)
    }

    @Test func `a step that made the transfer faster is kept`() {
        var ramp = RampUp(known: nil, at: .zero)
        for tick in 1...100 {
            let rate = Int64(min(ramp.wanted, 4)) << 20
            ramp.advance(
                reading(ramp.wanted, rate: rate),
                ceiling: 8,
                at: .milliseconds(100) * tick
            )
        }
        #expect(ramp.wanted == 4)
        #expect(ramp.finding == 4)
    }

    @Test(arguments: [Int64(1) << 20, 3 << 20])
    func `what is nearly done is left alone`(left: Int64) {
        var ramp = RampUp(known: nil, at: .zero)
        ramp.advance(reading(1, rate: 2 << 20, left: left), ceiling: 8, at: .seconds(1))
        #expect(ramp.wanted == 1)
    }

    @Test func `a known number is taken at once and not tried`() {
        var ramp = RampUp(known: .init(5), at: .zero)
        #expect(ramp.wanted == 5)
        for tick in 1...100 {
            ramp.advance(reading(5, rate: 1), ceiling: 8, at: .milliseconds(100) * tick)
        }
        #expect(ramp.wanted == 5)
        #expect(ramp.finding == nil)
    }

    @Test func `a number that only a ceiling had set is begun with, and more are tried`() {
        var ramp = RampUp(known: .init(2, mayBeMore: true), at: .zero)
        #expect(ramp.wanted == 2)
        for tick in 1...40 {
            ramp.advance(reading(ramp.wanted), ceiling: 8, at: .milliseconds(100) * tick)
        }
        #expect(ramp.wanted == 8)
        #expect(ramp.finding == 8)
    }

    @Test func `a number that is chosen on the way holds at once, and is not tried`() {
        var ramp = RampUp(known: nil, at: .zero)
        ramp.advance(reading(1), ceiling: 8, at: .milliseconds(100))
        #expect(ramp.wanted == 2)
        ramp.choose(6, at: .milliseconds(150))
        #expect(ramp.wanted == 6)
        for tick in 2...100 {
            ramp.advance(reading(6, rate: 1), ceiling: 8, at: .milliseconds(100) * tick)
        }
        #expect(ramp.wanted == 6)
        ramp.choose(1, at: .seconds(11))
        #expect(ramp.wanted == 1)
    }

    @Test func `a choice that is taken back leaves it to the trial from there on`() {
        var ramp = RampUp(known: .init(2), at: .zero)
        ramp.choose(nil, at: .seconds(1))
        #expect(ramp.wanted == 2)
        ramp.advance(reading(2), ceiling: 8, at: .milliseconds(1100))
        #expect(ramp.wanted == 4)
    }

    @Test func `a ceiling that rises is tried, even after all below it was of use`() {
        var ramp = RampUp(known: nil, at: .zero)
        func run(_ ticks: ClosedRange<Int>, ceiling: Int) {
            for tick in ticks {
                let rate = Int64(ramp.wanted) << 20
                ramp.advance(
                    reading(ramp.wanted, rate: rate),
                    ceiling: ceiling,
                    at: .milliseconds(100) * tick
                )
            }
        }
        run(1...60, ceiling: 4)
        #expect(ramp.wanted == 4)
        #expect(ramp.finding == 4)
        run(61...120, ceiling: 8)
        #expect(ramp.wanted == 8)
        #expect(ramp.finding == 8)
    }

    @Test func `a limit of the user's proves nothing`() {
        var ramp = RampUp(known: nil, at: .zero)
        ramp.advance(reading(1, isThrottled: true), ceiling: 8, at: .seconds(1))
        #expect(ramp.wanted == 1)
    }
}
