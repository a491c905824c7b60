// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting

@Suite struct RetryPolicyTests {
    private static let reset = Failure(.networkReset, "cut", isTransient: true)

    @Test(arguments: zip(1...7 as ClosedRange<UInt32>, [1, 2, 4, 8, 16, 32, 64]))
    func `each wait may be twice as long as the one before`(tries: UInt32, seconds: Int) {
        let longest = RetryPolicy.verdict(on: Self.reset, tries: tries, jitter: 1)
        #expect(longest == .retry(after: .seconds(seconds)))
        let middle = RetryPolicy.verdict(on: Self.reset, tries: tries, jitter: 0.5)
        #expect(middle == .retry(after: .milliseconds(seconds * 500)))
        let shortest = RetryPolicy.verdict(on: Self.reset, tries: tries, jitter: 0)
        #expect(shortest == .retry(after: .zero))
    }

    @Test(arguments: [8, 9, .max] as [UInt32])
    func `eight tries without progress are the last`(tries: UInt32) {
        #expect(RetryPolicy.verdict(on: Self.reset, tries: tries, jitter: 0) == .giveUp)
    }

    @Test func `no wait is longer than five minutes, whatever the jitter`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<1_000 {
            let tries = UInt32.random(in: 0..<RetryPolicy.tries, using: &random)
            let jitter = Double.random(in: 0..<1, using: &random)
            let verdict = RetryPolicy.verdict(on: Self.reset, tries: tries, jitter: jitter)
            guard case .retry(let wait) = verdict else {
                Issue.record("gave up after \(tries) tries")
                continue
            }
            let doubled = Duration.seconds(1 << max(0, Int(tries) - 1))
            #expect(wait >= .zero && wait <= min(doubled, RetryPolicy.cap))
        }
    }

    @Test func `what will not pass by waiting is not tried again`() {
        let missing = Failure(.serverNotFound, "404", retryAfter: .seconds(1))
        #expect(RetryPolicy.verdict(on: missing, tries: 1, jitter: 0) == .giveUp)
    }

    @Test(
        arguments: [
            (.seconds(10), 0, .seconds(10)),
            (.seconds(10), 1, .milliseconds(10_500)),
            (.zero, 0, .zero),
            (.zero, 0.5, .milliseconds(250)),
            (.seconds(-5), 0, .zero),
            (.seconds(3600), 0, .seconds(3600)),
        ] as [(Duration, Double, Duration)]
    )
    func `the server's wish takes the place of the back-off`(
        wish: Duration,
        jitter: Double,
        wait: Duration
    ) {
        let busy = Failure(.serverBusy, "503", isTransient: true, retryAfter: wish)
        let verdict = RetryPolicy.verdict(on: busy, tries: 3, jitter: jitter)
        #expect(verdict == .retry(after: wait))
    }

    @Test func `a wish beyond an hour is not waited for`() {
        let busy = Failure(.serverBusy, "503", isTransient: true, retryAfter: .seconds(3601))
        #expect(RetryPolicy.verdict(on: busy, tries: 1, jitter: 0) == .giveUp)
    }

    @Test func `the server's wish does not buy more tries`() {
        let busy = Failure(.serverBusy, "503", isTransient: true, retryAfter: .seconds(1))
        #expect(RetryPolicy.verdict(on: busy, tries: 8, jitter: 0) == .giveUp)
    }

    @Test(
        arguments: [
            (10, .seconds(10)),
            (0, .zero),
            (-5, .zero),
            (300, .seconds(300)),
            (301, .seconds(300)),
            (86_400, .seconds(300)),
        ] as [(Int64, Duration)]
    )
    func `after a restart a back-off lasts its rest, and never beyond its cap`(
        seconds: Int64,
        rest: Duration
    ) {
        #expect(remaining(seconds, after: Self.reset) == rest)
        #expect(remaining(seconds, after: nil) == rest)
    }

    @Test(
        arguments: [
            (3600, .seconds(3600)), (86_400, .milliseconds(3_600_500)), (-5, .zero),
        ] as [(Int64, Duration)]
    )
    func `after a restart a server's wish lasts an hour at most`(seconds: Int64, rest: Duration) {
        let busy = Failure(.serverBusy, "503", isTransient: true, retryAfter: .seconds(3600))
        #expect(remaining(seconds, after: busy) == rest)
    }

    @Test func `clocks at either end of time are no trap`() {
        let (first, last) = (WallTime(microseconds: .min), WallTime(microseconds: .max))
        let longest = RetryPolicy.remaining(until: last, now: first, after: nil)
        #expect(longest == RetryPolicy.cap)
        #expect(RetryPolicy.remaining(until: first, now: last, after: nil) == .zero)
    }

    private func remaining(_ seconds: Int64, after failure: Failure?) -> Duration {
        let now = WallTime(microseconds: 1_700_000_000_000_000)
        let deadline = now.advanced(by: .seconds(seconds))
        return RetryPolicy.remaining(until: deadline, now: now, after: failure)
    }
}
