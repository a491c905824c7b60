// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

@Suite struct HostLimitsTests {
    private let host = "https://host:443"

    /// A host with so many connections open.
    private func limits(open: Int) -> HostLimits {
        var limits = HostLimits()
        for _ in 0..<open { limits.opened(host, at: .zero) }
        return limits
    }

    @Test func `sixteen over all tasks`() {
        var limits = limits(open: 3)
        #expect(limits.room(host, at: .zero) == 13)
        for _ in 0..<20 { limits.opened(host, at: .zero) }
        #expect(limits.room(host, at: .zero) == 0)
        #expect(limits.room("https://other:443", at: .zero) == 16)
    }

    @Test func `no host has room for a seventeenth`() {
        var limits = limits(open: 15)
        #expect(!limits.isFull(host))
        limits.opened(host, at: .zero)
        #expect(limits.isFull(host))
        #expect(limits.room(host, at: .zero) == 0)
        limits.closed(host, at: .zero)
        #expect(!limits.isFull(host))
    }

    @Test func `connections whose disk does not answer take no places, but the host has them`() {
        var limits = limits(open: 16)
        limits.uncount(host, 8)
        #expect(!limits.isFull(host))
        #expect(limits.room(host, at: .zero) == 8)
        for _ in 0..<8 { limits.opened(host, at: .zero) }
        #expect(limits.isFull(host))
        #expect(limits.load(host, at: .zero) == .some)
        // Each that ends gives its own place back, or none.
        limits.closed(host, wasUncounted: true, at: .zero)
        #expect(limits.isFull(host))
        limits.closed(host, at: .zero)
        #expect(limits.room(host, at: .zero) == 1)
        limits.uncount(host, -7)
        #expect(limits.isFull(host))
        #expect(limits.open(host) == 22)
        for _ in 0..<7 { limits.closed(host, at: .zero) }
        #expect(limits.room(host, at: .zero) == 1)
    }

    @Test func `a refusal counts connections whose disk does not answer`() {
        var limits = limits(open: 6)
        limits.uncount(host, 4)
        limits.refused(host, retryAfter: nil, at: .zero)
        limits.closed(host, wasRefused: true, at: .zero)
        #expect(limits.knowledge(at: .zero).map(\.limit) == [5])
        #expect(limits.room(host, at: .zero) == 0)
        #expect(limits.load(host, at: .zero) == .full)
    }

    @Test func `each refusal leaves those that are open`() {
        var limits = limits(open: 8)
        for left in stride(from: 7, through: 2, by: -1) {
            limits.refused(host, retryAfter: nil, at: .seconds(1))
            limits.closed(host, wasRefused: true, at: .zero)
            #expect(limits.open(host) == left)
            #expect(limits.room(host, at: .seconds(1)) == 0)
        }
        limits.closed(host, at: .zero)
        #expect(limits.room(host, at: .seconds(1)) == 1)
    }

    @Test func `a host is full where it has refused more`() {
        var limits = limits(open: 3)
        #expect(limits.load(host, at: .zero) == .some)
        limits.refused(host, retryAfter: nil, at: .zero)
        limits.closed(host, wasRefused: true, at: .zero)
        #expect(limits.load(host, at: .zero) == .full)
        limits.closed(host, at: .zero)
        #expect(limits.load(host, at: .zero) == .some)
        limits.closed(host, at: .zero)
        #expect(limits.load(host, at: .zero) == .none)
    }

    @Test func `a connection that was closed a moment ago may still have counted`() {
        var limits = limits(open: 2)
        limits.closed(host, wasServed: true, at: .seconds(10))
        limits.opened(host, at: .seconds(10))
        limits.refused(host, retryAfter: nil, at: .seconds(11))
        limits.closed(host, wasRefused: true, at: .seconds(11))
        #expect(limits.room(host, at: .seconds(11)) == 1)
        limits.opened(host, at: .seconds(13))
        limits.refused(host, retryAfter: nil, at: .seconds(13))
        limits.closed(host, wasRefused: true, at: .seconds(13))
        #expect(limits.room(host, at: .seconds(13)) == 0)
    }

    @Test func `for some seconds a closed connection may be the reason of a refusal`() {
        var limits = limits(open: 1)
        limits.closed(host, wasServed: true, at: .seconds(10))
        #expect(limits.load(host, at: .seconds(24)) == .some)
        #expect(limits.load(host, at: .seconds(25)) == .none)
    }

    @Test func `those that were refused do not count, closed or not`() {
        var limits = limits(open: 4)
        for _ in 0..<3 { limits.refused(host, retryAfter: nil, at: .seconds(1)) }
        #expect(limits.knowledge(at: .seconds(1)).map(\.limit) == [1])
        #expect(limits.open(host) == 4)
        for _ in 0..<3 { limits.closed(host, wasRefused: true, at: .seconds(2)) }
        #expect(limits.open(host) == 1)
        #expect(limits.room(host, at: .seconds(2)) == 0)
        // A refusal of long ago says nothing of those that came since.
        for _ in 0..<2 { limits.opened(host, at: .seconds(90_000)) }
        limits.refused(host, retryAfter: nil, at: .seconds(90_000))
        #expect(limits.knowledge(at: .seconds(90_000)).map(\.limit) == [2])
    }

    @Test func `one that was refused by its end has left already`() {
        var limits = limits(open: 3)
        limits.closed(host, at: .seconds(1))
        limits.refused(host, wasClosed: true, retryAfter: nil, at: .seconds(1))
        #expect(limits.knowledge(at: .seconds(1)).map(\.limit) == [2])
        #expect(limits.open(host) == 2)
    }

    @Test func `what was learned outlives a restart, and is believed for no longer`() {
        var before = limits(open: 4)
        before.refused(host, retryAfter: nil, at: .seconds(100))
        let useful = UsefulConnections(4, mayBeMore: true)
        before.learned("ftp://other:21", useful: useful, at: .seconds(50))
        before.opened("https://plain:443", at: .seconds(60))
        let knowledge = before.knowledge(at: .seconds(160))
        #expect(
            knowledge == [
                HostKnowledge(host: host, limit: 3, useful: nil, age: .seconds(60)),
                HostKnowledge(
                    host: "ftp://other:21",
                    limit: nil,
                    useful: useful,
                    age: .seconds(110)
                ),
            ]
        )
        var after = HostLimits()
        after.restore(knowledge, at: .seconds(5))
        #expect(after.room(host, at: .seconds(5)) == 3)
        #expect(after.useful("ftp://other:21", at: .seconds(5)) == useful)
        #expect(after.room(host, at: HostLimits.memory - .seconds(55)) == 16)
        #expect(after.open(host) == 0)
    }

    @Test func `that a host gives several tags is known for a day, over a restart too`() {
        var before = HostLimits()
        before.givesSeveralTags(host, at: .seconds(10))
        #expect(before.hasSeveralTags(host, at: .seconds(10)))
        before.opened(host, at: .seconds(11))
        before.closed(host, at: .seconds(12))
        #expect(before.hasSeveralTags(host, at: .seconds(86_409)))
        #expect(!before.hasSeveralTags(host, at: .seconds(86_410)))
        #expect(!before.hasSeveralTags("http://other:80", at: .seconds(10)))

        var after = HostLimits()
        after.restore(before.knowledge(at: .seconds(110)), at: .seconds(5))
        #expect(after.hasSeveralTags(host, at: .seconds(5)))
        #expect(!after.hasSeveralTags(host, at: HostLimits.memory - .seconds(95)))
        #expect(after.room(host, at: .seconds(5)) == 16)
        // What is learned later does not prolong it.
        after.opened(host, at: HostLimits.memory)
        after.learned(host, useful: .init(3), at: HostLimits.memory)
        #expect(!after.hasSeveralTags(host, at: HostLimits.memory))
    }

    @Test func `what cannot have been learned is left out`() {
        var limits = HostLimits()
        let ages: [Duration] = [.seconds(-1), HostLimits.memory]
        let numbers: [(Int?, Int?)] = [(0, nil), (17, nil), (nil, -1), (4, 99), (nil, nil)]
        limits.restore(
            ages.map { HostKnowledge(host: host, limit: 2, useful: .init(2), age: $0) }
                + numbers.map {
                    HostKnowledge(
                        host: host,
                        limit: $0.0,
                        useful: $0.1.map { .init($0) },
                        age: .seconds(1)
                    )
                },
            at: .zero
        )
        #expect(limits.knowledge(at: .zero).isEmpty)
        #expect(limits.room(host, at: .zero) == 16)
    }

    @Test func `a host that has refused is always allowed one connection`() {
        var limits = limits(open: 1)
        limits.refused(host, retryAfter: nil, at: .zero)
        limits.closed(host, at: .zero)
        #expect(limits.room(host, at: .zero) == 1)
    }

    @Test func `what a host allows is believed for a day`() {
        var limits = limits(open: 3)
        limits.refused(host, retryAfter: nil, at: .seconds(10))
        for _ in 0..<3 { limits.closed(host, at: .zero) }
        #expect(limits.room(host, at: .seconds(86_409)) == 2)
        #expect(limits.room(host, at: .seconds(86_410)) == 16)
    }

    @Test func `the number of useful connections is believed for a day`() {
        var limits = limits(open: 4)
        limits.learned(host, useful: .init(4), at: .zero)
        for _ in 0..<4 { limits.closed(host, at: .zero) }
        #expect(limits.useful(host, at: .seconds(86_399)) == .init(4))
        #expect(limits.useful(host, at: .seconds(86_400)) == nil)
        #expect(limits.useful("http://host:80", at: .zero) == nil)
    }

    @Test func `a wish to be left alone holds back what would be added`() {
        var limits = limits(open: 2)
        limits.refused(host, retryAfter: .seconds(30), at: .seconds(1))
        limits.closed(host, at: .zero)
        limits.closed(host, at: .zero)
        #expect(limits.room(host, at: .seconds(30)) == 0)
        #expect(limits.room(host, at: .seconds(31)) == 1)
        limits.refused(host, retryAfter: .seconds(1_000_000), at: .seconds(31))
        #expect(limits.room(host, at: .seconds(31 + 3600)) == 1)
    }

    @Test func `a host that is left and taught nothing is forgotten`() {
        var limits = limits(open: 1)
        limits.closed(host, at: .zero)
        limits.closed(host, at: .zero)
        #expect(limits.open(host) == 0)
        #expect(limits.room(host, at: .zero) == 16)
    }

    @Test func `not more hosts than can be kept are remembered`() {
        var limits = HostLimits()
        for number in 0..<1500 {
            let host = "http://\(number):80"
            limits.opened(host, at: .seconds(number))
            limits.learned(host, useful: .init(3), at: .seconds(number))
            limits.closed(host, at: .seconds(number))
        }
        let now = Duration.seconds(1500)
        let known = (0..<1500).filter { limits.useful("http://\($0):80", at: now) != nil }
        #expect(known == Array(500..<1500))
    }
}
