// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing

@testable import iDownDesktop

/// How long a service's value stays valid; the tests set the time.
@Suite struct LastKnownValueTests {
    private static let start = ContinuousClock.now

    /// Returns the values reported for these answers, each given at a second after the start.
    private func reported(_ answers: [(Int, ServiceAnswer<String>)]) -> [String] {
        var last = LastKnownValue<String>(grace: .seconds(30))
        var reported: [String] = []
        for (second, answer) in answers {
            let isReported = last.update(with: answer, at: Self.start + .seconds(second))
            if isReported { reported.append(last.value ?? "unavailable") }
        }
        return reported
    }

    @Test func `a service that never ran is reported as unavailable at once`() {
        #expect(reported([(0, .unavailable)]) == ["unavailable"])
    }

    @Test func `nothing is reported while a service does not answer the first query`() {
        #expect(reported([(0, .noReply), (5, .noReply), (10, .value("a"))]) == ["a"])
    }

    @Test func `a service that returns within the grace period keeps its value`() {
        #expect(
            reported([(0, .value("a")), (1, .unavailable), (30, .unavailable), (30, .value("b"))])
                == ["a", "b"]
        )
    }

    @Test func `the value is dropped when the grace period since the stop is over`() {
        #expect(
            reported([(0, .value("a")), (1, .unavailable), (30, .unavailable), (31, .unavailable)])
                == ["a", "unavailable"]
        )
    }

    @Test func `a service that returned and stops again gets a new grace period`() {
        let answers: [(Int, ServiceAnswer<String>)] = [
            (0, .value("a")), (1, .unavailable), (20, .noReply), (25, .value("a")),
            (31, .unavailable),
            (60, .unavailable), (61, .unavailable),
        ]
        #expect(reported(answers) == ["a", "a", "unavailable"])
    }

    @Test func `the value of a service that does not answer is kept`() {
        #expect(reported([(0, .value("a")), (1, .noReply), (3600, .noReply)]) == ["a"])
    }

    @Test
    func `a silent service is queried again after a delay, a stopped one after the grace period`() {
        var last = LastKnownValue<String>(grace: .seconds(30))
        _ = last.update(with: .value("a"), at: Self.start)
        #expect(last.nextQuery == nil)
        _ = last.update(with: .noReply, at: Self.start)
        #expect(last.nextQuery == Self.start + .seconds(5))
        _ = last.update(with: .unavailable, at: Self.start + .seconds(1))
        #expect(last.nextQuery == Self.start + .seconds(31))
        _ = last.update(with: .unavailable, at: Self.start + .seconds(31))
        #expect(last.nextQuery == nil)
    }

    @Test(
        arguments: [
            (BusError.noReply(""), true), (BusError.disconnected(""), true),
            (BusError.unknownInterface(""), false), (BusError.accessDenied(""), false),
            (BusError("org.freedesktop.DBus.Error.NameHasNoOwner", ""), false),
        ]
    )
    func `only errors after which an answer may still come count as no reply`(
        error: BusError,
        isSilent: Bool
    ) {
        var last = LastKnownValue<String>(grace: .seconds(30))
        let isReported = last.update(with: ServiceAnswer(error), at: Self.start)
        #expect(isReported != isSilent)
    }
}
