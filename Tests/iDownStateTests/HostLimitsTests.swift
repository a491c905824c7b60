// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

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

    @Test func `first connections are not held back, but others give way to them`() {
        var limits = limits(open: 16)
        #expect(!limits.isOverfull(host))
        limits.opened(host, at: .zero)
        #expect(limits.isOverfull(host))
        #expect(limits.room(host, at: .zero) == 0)
        limits.closed(host, at: .zero)
        #expect(!limits.isOverfull(host))
    }

    @Test func `each refusal leaves those that are open`() {
        var limits = limits(open: 8)
        for left in stride(from: 7, through: 2, by: -1) {
            limits.refused(host, retryAfter: nil, at: .seconds(1))
            limits.closed(host, at: .zero)
            #expect(limits.open(host) == left)
            #expect(limits.room(host, at: .seconds(1)) == 0)
        }
        limits.closed(host, at: .zero)
        #expect(limits.room(host, at: .seconds(1)) == 1)
    }

    @Test func `a connection that was closed a moment ago may still have counted`() {
        var limits = limits(open: 2)
        limits.closed(host, wasServed: true, at: .seconds(10))
        limits.opened(host, at: .seconds(10))
        limits.refused(host, retryAfter: nil, at: .seconds(11))
        limits.closed(host, at: .seconds(11))
        #expect(limits.room(host, at: .seconds(11)) == 1)
        limits.opened(host, at: .seconds(13))
        limits.refused(host, retryAfter: nil, at: .seconds(13))
        limits.closed(host, at: .seconds(13))
        #expect(limits.room(host, at: .seconds(13)) == 0)
    }

    @Test func `one is always allowed`() {
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

    @Test func `so is what was of use`() {
        var limits = limits(open: 4)
        limits.learned(host, useful: 4, at: .zero)
        for _ in 0..<4 { limits.closed(host, at: .zero) }
        #expect(limits.useful(host, at: .seconds(86_399)) == 4)
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
            limits.learned(host, useful: 3, at: .seconds(number))
            limits.closed(host, at: .seconds(number))
        }
        let now = Duration.seconds(1500)
        let known = (0..<1500).filter { limits.useful("http://\($0):80", at: now) != nil }
        #expect(known == Array(500..<1500))
    }
}
