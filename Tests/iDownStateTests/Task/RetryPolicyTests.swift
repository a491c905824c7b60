// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@testable import iDownState

@Suite struct RetryPolicyTests {
    private static let reset = Failure(.networkReset, "cut", isTransient: true)

    private func verdict(
        on failure: Failure = reset,
        tries: UInt32 = 1,
        waited: Duration = .zero,
        isHostKnown: Bool = false,
        limit: Int64 = RetryPolicy.usualRetryFor,
        jitter: Double = 0
    ) -> RetryPolicy.Verdict {
        let stretch = RetryPolicy.Stretch(
            tries: tries,
            waited: waited,
            isHostKnown: isHostKnown,
            limit: RetryPolicy.limit(ofSeconds: limit)
        )
        return RetryPolicy.verdict(on: failure, stretch, jitter: jitter)
    }

    @Test(arguments: zip(1...7 as ClosedRange<UInt32>, [1, 2, 4, 8, 16, 32, 64]))
    func `each wait may be twice as long as the one before`(tries: UInt32, seconds: Int) {
        #expect(verdict(tries: tries, jitter: 1) == .retry(after: .seconds(seconds)))
        #expect(verdict(tries: tries, jitter: 0.5) == .retry(after: .milliseconds(seconds * 500)))
        #expect(verdict(tries: tries) == .retry(after: .zero))
    }

    @Test(arguments: [8, 9, .max] as [UInt32])
    func `eight tries without progress are the last at a host that has never answered`(
        tries: UInt32
    ) {
        #expect(verdict(tries: tries) == .giveUp(Self.reset))
        #expect(verdict(tries: tries, limit: 0) == .giveUp(Self.reset))
    }

    /// What becomes of a failure at a host that has answered before.
    struct Row: Sendable {
        var waited: Int64
        var limit: Int64
        /// Nil gives up.
        var wait: Int64?
    }

    @Test(arguments: [
        Row(waited: 0, limit: 86_400, wait: 300),
        Row(waited: 86_099, limit: 86_400, wait: 300),
        Row(waited: 86_101, limit: 86_400, wait: 299),
        Row(waited: 86_399, limit: 86_400, wait: 1),
        Row(waited: 86_400, limit: 86_400, wait: nil),
        Row(waited: 1_000_000, limit: 86_400, wait: nil),
        Row(waited: 0, limit: 1, wait: 1),
        Row(waited: 1, limit: 1, wait: nil),
        Row(waited: 1_000_000_000, limit: 0, wait: 300),
    ])
    func `a host that has answered before is waited for until the time is over`(row: Row) {
        for tries in [10, 10_000, .max] as [UInt32] {
            let verdict = verdict(
                tries: tries,
                waited: .seconds(row.waited),
                isHostKnown: true,
                limit: row.limit,
                jitter: 1
            )
            #expect(verdict == row.wait.map { .retry(after: .seconds($0)) } ?? .giveUp(Self.reset))
        }
    }

    @Test(arguments: [FailureCode.fileFailed, .fileNoSpace, .serverContentChanged])
    func `what is no outage is tried eight times at every host`(code: FailureCode) {
        let failure = Failure(code, "no", isTransient: true)
        #expect(verdict(on: failure, tries: 7, isHostKnown: true) == .retry(after: .zero))
        #expect(verdict(on: failure, tries: 8, isHostKnown: true) == .giveUp(failure))
    }

    @Test func `no wait is longer than five minutes, whatever the jitter`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<1_000 {
            let tries = UInt32.random(in: 0...1_000, using: &random)
            let jitter = Double.random(in: 0..<1, using: &random)
            let verdict = verdict(tries: tries, isHostKnown: true, jitter: jitter)
            guard case .retry(let wait) = verdict else {
                Issue.record("gave up after \(tries) tries")
                continue
            }
            let doubled = Duration.seconds(1 << min(20, max(0, Int(tries) - 1)))
            #expect(wait >= .zero && wait <= min(doubled, RetryPolicy.cap))
        }
    }

    @Test func `what will not pass by waiting is not tried again`() {
        let missing = Failure(.serverNotFound, "404", retryAfter: .seconds(1))
        #expect(verdict(on: missing, isHostKnown: true) == .giveUp(missing))
    }

    @Test(
        arguments: [
            (.seconds(10), 0, .seconds(10)),
            (.seconds(10), 1, .milliseconds(10_500)),
            (.zero, 0, .zero),
            (.zero, 0.5, .milliseconds(250)),
            (.seconds(-5), 0, .zero),
            (.seconds(3600), 0, .seconds(3600)),
            (.seconds(86_400), 0, .seconds(86_400)),
        ] as [(Duration, Double, Duration)]
    )
    func `the server's wish takes the place of the back-off`(
        wish: Duration,
        jitter: Double,
        wait: Duration
    ) {
        let busy = Failure(.serverBusy, "503", isTransient: true, retryAfter: wish)
        #expect(verdict(on: busy, tries: 3, jitter: jitter) == .retry(after: wait))
    }

    @Test func `a wish beyond the time that is left fails the task as busy, and says how long`() {
        let failed = Failure.status(500, retryAfter: .seconds(7200))
        let left = verdict(on: failed, waited: .seconds(1), isHostKnown: true, limit: 7201)
        #expect(left == .retry(after: .seconds(7200)))
        let verdict = verdict(on: failed, waited: .seconds(2), isHostKnown: true, limit: 7201)
        guard case .giveUp(let failure) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(failure.code == .serverBusy)
        #expect(!failure.isTransient)
        #expect(failure.message.hasPrefix(failed.message))
        #expect(failure.message.contains("wait 2 h,"))
    }

    @Test func `the server's wish does not buy more tries`() {
        let busy = Failure(.serverBusy, "503", isTransient: true, retryAfter: .seconds(1))
        #expect(verdict(on: busy, tries: 8) == .giveUp(busy))
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
    func `after a restart a server's wish lasts no longer than it said`(
        seconds: Int64,
        rest: Duration
    ) {
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
