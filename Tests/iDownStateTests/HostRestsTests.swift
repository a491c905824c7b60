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
