// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing

@testable import iDownDesktop

/// For how long what a service said is believed; its clock is the test's.
@Suite struct LastWordTests {
    private static let start = ContinuousClock.now

    /// What is told of these findings, each so many seconds after the start.
    private func told(_ findings: [(Int, Finding<String>)]) -> [String] {
        var last = LastWord<String>(grace: .seconds(30))
        var told: [String] = []
        for (second, finding) in findings {
            let isNews = last.take(finding, at: Self.start + .seconds(second))
            if isNews { told.append(last.word ?? "nobody") }
        }
        return told
    }

    @Test func `whoever was never there is not waited for`() {
        #expect(told([(0, .nobody)]) == ["nobody"])
    }

    @Test func `whoever is slow at first has said nothing`() {
        #expect(told([(0, .silence), (5, .silence), (10, .said("a"))]) == ["a"])
    }

    @Test func `whoever is back within the grace was never away`() {
        #expect(
            told([(0, .said("a")), (1, .nobody), (30, .nobody), (30, .said("b"))]) == ["a", "b"]
        )
    }

    @Test func `whoever stays away is forgotten, counted from when he went`() {
        #expect(
            told([(0, .said("a")), (1, .nobody), (30, .nobody), (31, .nobody)]) == ["a", "nobody"]
        )
    }

    @Test func `whoever has been back has a grace of his own`() {
        let findings: [(Int, Finding<String>)] = [
            (0, .said("a")), (1, .nobody), (20, .silence), (25, .said("a")), (31, .nobody),
            (60, .nobody), (61, .nobody),
        ]
        #expect(told(findings) == ["a", "a", "nobody"])
    }

    @Test func `whoever does not answer is believed as before`() {
        #expect(told([(0, .said("a")), (1, .silence), (3600, .silence)]) == ["a"])
    }

    @Test func `he is asked again after a pause, and looked for at the end of the grace`() {
        var last = LastWord<String>(grace: .seconds(30))
        _ = last.take(.said("a"), at: Self.start)
        #expect(last.nextLook == nil)
        _ = last.take(.silence, at: Self.start)
        #expect(last.nextLook == Self.start + .seconds(5))
        _ = last.take(.nobody, at: Self.start + .seconds(1))
        #expect(last.nextLook == Self.start + .seconds(31))
        _ = last.take(.nobody, at: Self.start + .seconds(31))
        #expect(last.nextLook == nil)
    }

    @Test(
        arguments: [
            (BusError.noReply(""), true), (BusError.disconnected(""), true),
            (BusError.unknownInterface(""), false), (BusError.accessDenied(""), false),
            (BusError("org.freedesktop.DBus.Error.NameHasNoOwner", ""), false),
        ]
    )
    func `only who might still answer is silent`(error: BusError, isSilent: Bool) {
        var last = LastWord<String>(grace: .seconds(30))
        let isNews = last.take(Finding(error), at: Self.start)
        #expect(isNews != isSilent)
    }
}
