// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct HostRestsTests {
    private static let one = Origin(scheme: "https", host: "one.example", port: 443)
    private static let two = Origin(scheme: "https", host: "two.example", port: 443)

    @Test func `a host is left alone as long as it asked, and no other one`() {
        var rests = HostRests()
        rests.rest(Self.one, for: .seconds(10), now: .seconds(100))
        #expect(rests.remaining(of: Self.one, now: .seconds(104)) == .seconds(6))
        #expect(rests.remaining(of: Self.one, now: .seconds(110)) == nil)
        #expect(rests.remaining(of: Self.two, now: .seconds(104)) == nil)
        #expect(rests.all(now: .seconds(104)) == [Self.one: .seconds(6)])
        #expect(rests.all(now: .seconds(110)).isEmpty)
    }

    @Test func `another port of the host is another host`() {
        var rests = HostRests()
        rests.rest(Self.one, for: .seconds(10), now: .zero)
        let other = Origin(scheme: "https", host: "one.example", port: 8443)
        #expect(rests.remaining(of: other, now: .zero) == nil)
    }

    @Test func `a later wish does not shorten an earlier one`() {
        var rests = HostRests()
        rests.rest(Self.one, for: .seconds(10), now: .zero)
        rests.rest(Self.one, for: .seconds(2), now: .seconds(1))
        #expect(rests.remaining(of: Self.one, now: .seconds(1)) == .seconds(9))
        rests.rest(Self.one, for: .seconds(20), now: .seconds(2))
        #expect(rests.remaining(of: Self.one, now: .seconds(2)) == .seconds(20))
    }

    @Test(arguments: [.zero, .seconds(-1), .seconds(86_401), .seconds(1_000_000)] as [Duration])
    func `what is no wish, or goes beyond a day, binds nobody`(wish: Duration) {
        var rests = HostRests()
        rests.rest(Self.one, for: wish, now: .zero)
        #expect(rests.all(now: .zero).isEmpty)
    }

    @Test func `the first that may be asked again is known`() {
        var rests = HostRests()
        #expect(rests.next(now: .zero) == nil)
        rests.rest(Self.one, for: .seconds(10), now: .zero)
        rests.rest(Self.two, for: .seconds(5), now: .zero)
        #expect(rests.next(now: .seconds(1)) == .seconds(5))
        #expect(rests.next(now: .seconds(5)) == .seconds(10))
        #expect(rests.next(now: .seconds(10)) == nil)
    }

    @Test func `a try by hand ends the rest`() {
        var rests = HostRests()
        rests.rest(Self.one, for: .seconds(10), now: .zero)
        rests.end(of: Self.one)
        #expect(rests.remaining(of: Self.one, now: .zero) == nil)
    }

    @Test func `a host that is busy for everybody rests twice as long each time`() {
        var rests = HostRests()
        var now = Duration.seconds(100)
        func refuse() -> Duration? {
            rests.refused(by: Self.one, now: now)
            return rests.remaining(of: Self.one, now: now)
        }
        for _ in 1...HostRests.patience { #expect(refuse() == nil) }
        for rest in [1, 2, 4, 8, 16, 32, 60, 60] {
            #expect(refuse() == .seconds(rest))
            // What was asked before does not count.
            #expect(refuse() == .seconds(rest))
            now += .seconds(rest)
        }
        #expect(rests.remaining(of: Self.two, now: now) == nil)
        // A try by hand ends the rest, and not what is known.
        #expect(refuse() == .seconds(60))
        rests.end(of: Self.one)
        #expect(refuse() == .seconds(60))
    }

    @Test func `a host that gives somebody something is not busy for everybody`() {
        var rests = HostRests()
        for _ in 1...HostRests.patience { rests.refused(by: Self.one, now: .zero) }
        rests.answered(by: Self.one)
        for _ in 1...HostRests.patience { rests.refused(by: Self.one, now: .zero) }
        #expect(rests.all(now: .zero).isEmpty)
        rests.refused(by: Self.one, now: .zero)
        #expect(rests.all(now: .zero) == [Self.one: .seconds(1)])
    }

    @Test func `that a host was busy is forgotten`() {
        var rests = HostRests()
        for _ in 1...HostRests.patience { rests.refused(by: Self.one, now: .zero) }
        rests.refused(by: Self.one, now: .seconds(601))
        #expect(rests.all(now: .seconds(601)).isEmpty)
    }

    @Test func `of too many hosts the one that comes back first is forgotten`() {
        var rests = HostRests()
        for port in 1...HostRests.limit + 1 {
            let origin = Origin(scheme: "http", host: "h", port: port)
            rests.rest(origin, for: .milliseconds(100_000 + port), now: .zero)
        }
        #expect(rests.all(now: .zero).count == HostRests.limit)
        let first = Origin(scheme: "http", host: "h", port: 1)
        #expect(rests.remaining(of: first, now: .zero) == nil)
    }
}
