// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

@Suite struct JoiningTests {
    private static let megabyte: Int64 = 1 << 20
    private static let total = 64 * megabyte

    /// One connection that brings 1 MiB a second, after a second of it.
    private static func joining(known: UsefulConnections? = nil) -> Joining {
        Joining(source: 0, headTime: .milliseconds(10), known: known, at: .zero)
    }

    private static let file = RemoteVersion(total: total, servesRanges: true)

    private static func segment(at now: Duration) -> SegmentPlan.Segment {
        SegmentPlan.Segment(
            id: 1,
            position: position(at: now),
            end: total,
            age: now,
            bytesPerSecond: megabyte
        )
    }

    private static func position(at now: Duration) -> Int64 {
        Int64(Double(megabyte) * (now / .seconds(1)))
    }

    private static func look(
        at now: Duration = .seconds(1),
        hosts: Int = 1,
        _ change: (inout Joining.Look) -> Void = { _ in }
    ) -> Joining.Look {
        var look = Joining.Look(
            now: now,
            taken: SegmentMap(ByteRange(from: 0, to: position(at: now)).map { [$0] } ?? []),
            progress: [:],
            ceiling: 8,
            places: (0..<hosts).map { source in
                Joining.Look.Place(
                    source: source,
                    host: Origin(scheme: "https", host: "\(source).example", port: 443),
                    room: 16
                )
            }
        )
        change(&look)
        return look
    }

    /// Something that can be seen, or has happened before, and how many are to be asked then.
    struct Row: Sendable, CustomTestStringConvertible {
        let what: String
        var chosen: Int?
        var known: UsefulConnections?
        var mostServed: Int?
        var servesRanges = true
        var before: @Sendable (inout Joining) -> Void = { _ in }
        var change: @Sendable (inout Joining.Look) -> Void = { _ in }
        let asked: Int

        var testDescription: String { what }
    }

    static let rows: [Row] = [
        Row(what: "one more is tried", asked: 1),
        Row(what: "what somebody wants is asked at once", chosen: 4, asked: 3),
        Row(what: "what was of use at this host is asked at once", known: .init(5), asked: 4),
        Row(
            what: "no more than the task may have",
            chosen: 4,
            change: { $0.ceiling = 2 },
            asked: 1
        ),
        Row(
            what: "no more than the hosts allow",
            chosen: 4,
            change: { $0.places[0].room = 2 },
            asked: 2
        ),
        Row(what: "no more than were served", chosen: 4, mostServed: 2, asked: 1),
        Row(
            what: "until an answer has shown ranges, one goes ahead",
            chosen: 4,
            servesRanges: false,
            asked: 1
        ),
        Row(
            what: "nobody joins where a transfer waits that has none",
            chosen: 4,
            change: { $0.places[0].isAwaited = true },
            asked: 0
        ),
        Row(
            what: "a limit that is reached is no reason for more",
            change: { $0.share = JoiningTests.megabyte },
            asked: 0
        ),
        Row(
            what: "nobody joins where the server has no ranges after all",
            chosen: 4,
            before: { $0.close() },
            asked: 0
        ),
        Row(
            what: "nobody joins right after a failure",
            chosen: 4,
            before: { $0.failed(after: 0, at: .milliseconds(900)) },
            asked: 0
        ),
        Row(
            what: "half a second after a failure others may join",
            chosen: 4,
            before: { $0.failed(after: 0, at: .milliseconds(500)) },
            asked: 3
        ),
        Row(
            what: "each further failure takes twice as long",
            chosen: 4,
            before: { joining in
                for _ in 0..<2 { joining.failed(after: 0, at: .milliseconds(500)) }
            },
            asked: 0
        ),
        Row(
            what: "one that has brought something does not add up",
            chosen: 4,
            before: { joining in
                for _ in 0..<9 { joining.failed(after: 64 << 10, at: .milliseconds(500)) }
            },
            asked: 3
        ),
        Row(
            what: "nobody joins right after the host has refused",
            chosen: 4,
            before: { $0.refused(at: .milliseconds(900)) },
            asked: 0
        ),
    ]

    @Test(arguments: rows) func `what is seen says how many join`(row: Row) {
        var joining = Self.joining(known: row.known)
        func plan(at now: Duration) -> SegmentPlan? {
            let look = Self.look(at: now) {
                $0.chosen = row.chosen
                row.change(&$0)
            }
            let file = RemoteVersion(total: Self.total, servesRanges: row.servesRanges)
            return joining.plan(look, [Self.segment(at: now)], mostServed: row.mostServed, of: file)
        }
        _ = plan(at: .milliseconds(100))
        row.before(&joining)
        let steps = plan(at: .seconds(1))?.steps
        #expect(steps?.count == row.asked, "\(String(describing: steps))")
    }

    @Test func `another number holds at once`() {
        var joining = Self.joining()
        let segments = [Self.segment(at: .seconds(1))]
        _ = joining.plan(Self.look { $0.chosen = 4 }, segments, of: Self.file)
        let plan = joining.plan(Self.look { $0.chosen = 2 }, segments, of: Self.file)
        #expect(plan?.wanted == 2)
    }

    @Test(arguments: [(1, true), (2, false)])
    func `what was found of use is of one host alone`(places: Int, isFound: Bool) {
        var joining = Self.joining()
        var findings: [UsefulConnections] = []
        // More bring no more.
        for tenth in 1...80 {
            let now = Duration.milliseconds(tenth * 100)
            let look = Self.look(at: now, hosts: places)
            var segments = [Self.segment(at: now)]
            let wanted = joining.plan(look, segments, of: Self.file)?.wanted ?? 0
            if wanted > 1 {
                segments.append(
                    SegmentPlan.Segment(
                        id: 2,
                        position: Self.total / 2,
                        end: Self.total,
                        age: .seconds(1),
                        bytesPerSecond: 1
                    )
                )
                _ = joining.plan(look, segments, of: Self.file)
            }
            if let finding = joining.finding { findings.append(finding) }
        }
        #expect(findings.isEmpty != isFound)
    }

    @Test func `silence is longer than any answer has taken`() {
        var joining = Self.joining()
        #expect(!joining.isSilence(.seconds(2)) && joining.isSilence(.seconds(3)))
        for _ in 0..<20 { joining.headCame(after: .seconds(1)) }
        #expect(!joining.isSilence(.seconds(7)) && joining.isSilence(.seconds(9)))
    }
}
