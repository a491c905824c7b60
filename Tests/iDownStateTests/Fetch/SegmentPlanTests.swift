// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

/// Offsets and lengths are in MiB.
@Suite struct SegmentPlanTests {
    typealias Segment = SegmentPlan.Segment

    private static let mebibyte: Int64 = 1 << 20

    private func segment(
        _ id: Int,
        _ position: Double,
        _ end: Double,
        rate: Double? = nil,
        age: Duration = .seconds(5),
        isJudged: Bool = true,
        rival: Int? = nil
    ) -> Segment {
        Segment(
            id: id,
            position: Self.bytes(position),
            end: Self.bytes(end),
            isJudged: isJudged,
            age: age,
            bytesPerSecond: rate.map(Self.bytes),
            rival: rival
        )
    }

    private static func bytes(_ mebibytes: Double) -> Int64 {
        Int64(mebibytes * Double(mebibyte))
    }

    private func range(_ first: Double, _ end: Double) -> ByteRange {
        guard let range = ByteRange(from: Self.bytes(first), to: Self.bytes(end)) else {
            preconditionFailure("\(first) to \(end) is no range")
        }
        return range
    }

    private func plan(
        total: Double = 64,
        stored: [ByteRange] = [],
        _ segments: [Segment],
        wanted: Int,
        ceiling: Int = 16
    ) -> SegmentPlan {
        SegmentPlan(
            total: Self.bytes(total),
            stored: SegmentMap(stored),
            segments: segments,
            wanted: wanted,
            ceiling: ceiling
        )
    }

    @Test func `one connection is left alone where one is wanted`() {
        #expect(plan([segment(1, 0, 64)], wanted: 1).steps.isEmpty)
    }

    @Test func `a known number divides the file evenly`() {
        let plan = plan([segment(1, 0, 64, age: .zero)], wanted: 4)
        #expect(
            plan.steps == [
                .split(1, range(16, 32)), .split(1, range(32, 48)),
                .split(1, range(48, 64)),
            ]
        )
    }

    @Test func `the half of the largest remainder is split off`() {
        let stored = [range(0, 8), range(16, 40)]
        let segments = [segment(1, 8, 16, rate: 1), segment(2, 40, 64, rate: 1)]
        #expect(plan(stored: stored, segments, wanted: 3).steps == [.split(2, range(52, 64))])
    }

    @Test func `a slow segment keeps as much as it can bring by then`() {
        let stored = [range(0, 4)]
        let segments = [segment(1, 4, 44, rate: 1), segment(2, 44, 64, rate: 4)]
        var steps = plan(stored: stored, segments, wanted: 3).steps
        // What is faster by four brings four times as much in the same time.
        #expect(steps == [.split(1, range(12, 44))])
        steps =
            plan(
                stored: stored,
                [segment(1, 4, 44, rate: 0), segment(2, 44, 64, rate: 4)],
                wanted: 3
            )
            .steps
        guard case .split(1, let part) = steps.first else {
            Issue.record("\(steps)")
            return
        }
        #expect(part.first < Self.bytes(5))
    }

    @Test func `a safe zone stays ahead of the writer`() {
        var plan = plan(total: 3, [segment(1, 0, 3, rate: 1)], wanted: 2)
        plan.headTime = .seconds(1)
        guard case .split(1, let part) = plan.steps.first else {
            Issue.record("\(plan.steps)")
            return
        }
        #expect(part.first >= Self.bytes(2))
    }

    /// The connection of the first segment would bring the whole file.
    @Test(arguments: [
        // Far slower, and watched for long enough.
        (0.5, 0.5, 5, 4, true), (0.5, 0.5, 0.5, 4, false),
        // The first segment is about to end.
        (0.5, 0.5, 0.5, 15, true), (2, 2, 5, 15.9, true),
        // Slower, but in time.
        (2, 2, 5, 4, false), (8, 8, 5, 15.9, false),
        // Another connection is not slow.
        (0.5, 8, 5, 15.9, false),
    ])
    func `a segment goes on through the next one where ranges are far slower`(
        rate: Double,
        other: Double,
        age: Double,
        position: Double,
        isExtended: Bool
    ) {
        var first = segment(1, position, 16, rate: 8)
        first.answerEnd = .max
        let next = segment(2, 20, 32, rate: rate, age: .seconds(age))
        let segments = [first, next, segment(3, 40, 64, rate: other)]
        let stored = [range(0, position), range(16, 20), range(32, 40)]
        let steps = plan(stored: stored, segments, wanted: 3, ceiling: 3).steps
        #expect(steps == (isExtended ? [.extend(1, to: Self.bytes(32))] : []))
    }

    @Test func `a segment whose bytes another one brings as well is not helped`() {
        var first = segment(1, 4, 64, rate: 8)
        first.answerEnd = .max
        let segments = [first, segment(2, 20, 64, rate: 0)]
        let stored = [range(0, 4), range(16, 20)]
        #expect(plan(stored: stored, segments, wanted: 2).steps == [])
    }

    @Test func `gaps come before anything is split`() {
        let stored = [range(8, 16), range(24, 32)]
        let plan = plan(total: 40, stored: stored, [segment(1, 0, 8)], wanted: 3)
        #expect(plan.steps == [.open(range(16, 24)), .open(range(32, 40))])
    }

    @Test func `even a gap of one byte is fetched`() throws {
        let gap = try #require(ByteRange(first: 5, length: 1))
        let stored = [try #require(ByteRange(first: 0, length: 5))]
        let plan = SegmentPlan(
            total: 16,
            stored: SegmentMap(stored),
            segments: [Segment(id: 1, position: 6, end: 16)],
            wanted: 2,
            ceiling: 2
        )
        #expect(plan.steps == [.open(gap)])
    }

    @Test func `a large gap is divided among all that are free`() {
        let plan = plan(stored: [range(0, 32)], [], wanted: 4)
        #expect(
            plan.steps == [
                .open(range(32, 40)), .open(range(40, 48)), .open(range(48, 56)),
                .open(range(56, 64)),
            ]
        )
    }

    @Test func `the host's limit is kept`() {
        var plan = plan([segment(1, 0, 64)], wanted: 8)
        plan.room = 2
        #expect(plan.steps.count == 2)
        plan.room = 0
        #expect(plan.steps.isEmpty)
    }

    @Test func `what is still awaited is not split, and counts`() {
        let stored = [range(0, 8)]
        let segments = [segment(1, 8, 64), segment(2, 36, 64, isJudged: false)]
        #expect(plan(stored: stored, segments, wanted: 2).steps.isEmpty)
        // What is promised to the second is not promised again.
        #expect(plan(stored: stored, segments, wanted: 3).steps == [.split(1, range(22, 36))])
    }

    @Test func `little is not split`() {
        let stored = [range(0, 63.6)]
        #expect(plan(stored: stored, [segment(1, 63.6, 64)], wanted: 4).steps.isEmpty)
    }

    @Test func `what is done in a moment is not split`() {
        let stored = [range(0, 60)]
        #expect(plan(stored: stored, [segment(1, 60, 64, rate: 20)], wanted: 4).steps.isEmpty)
    }

    @Test func `a connection whose bytes have come from elsewhere is cut`() {
        let stored = [range(0, 3), range(4, 8)]
        let plan = plan(total: 8, stored: stored, [segment(1, 3, 4), segment(2, 5, 8)], wanted: 2)
        #expect(plan.steps == [.cut(2)])
    }

    @Test func `where fewer are wanted the youngest is cut`() {
        let segments = [segment(1, 0, 20), segment(4, 20, 40), segment(7, 40, 64)]
        #expect(plan(segments, wanted: 1).steps == [.cut(4), .cut(7)])
    }

    @Test func `a racer beyond the wanted number is not, but the ceiling holds`() {
        let segments = [segment(1, 0, 64, rate: 0), segment(2, 0, 64, rival: 1)]
        #expect(plan(segments, wanted: 1).steps.isEmpty)
        #expect(plan(segments, wanted: 1, ceiling: 1).steps == [.cut(2)])
    }

    // MARK: Races

    @Test func `the slowest segment is raced when nothing is left to split`() {
        let stored = [range(0, 63.8)]
        let segments = [segment(1, 63.8, 63.9, rate: 0.01), segment(2, 63.9, 64, rate: 1)]
        #expect(plan(stored: stored, segments, wanted: 4).steps == [.race(1, range(63.8, 63.9))])
    }

    @Test func `nobody is raced where a limit is what slows all down`() {
        var plan = plan(stored: [range(0, 32)], [segment(1, 32, 64, rate: 0)], wanted: 1)
        plan.typical = Self.bytes(8)
        #expect(plan.steps == [.race(1, range(32, 64))])
        plan.mayRace = false
        #expect(plan.steps.isEmpty)
    }

    @Test func `nobody is raced whom a new connection would not beat`() {
        let stored = [range(0, 63.8)]
        let segments = [segment(1, 63.8, 63.9, rate: 1), segment(2, 63.9, 64, rate: 1)]
        #expect(plan(stored: stored, segments, wanted: 4).steps.isEmpty)
    }

    @Test func `nobody is raced twice`() {
        let stored = [range(0, 63.8)]
        let segments = [
            segment(1, 63.8, 63.9, rate: 0), segment(2, 63.9, 64, rate: 1),
            segment(3, 63.8, 63.9, isJudged: false, rival: 1),
        ]
        #expect(plan(stored: stored, segments, wanted: 4).steps.isEmpty)
    }

    @Test func `a young segment is given its time`() {
        let stored = [range(0, 63.8)]
        let segments = [
            segment(1, 63.8, 63.9, rate: 0, age: .milliseconds(900)), segment(2, 63.9, 64, rate: 1),
        ]
        #expect(plan(stored: stored, segments, wanted: 4).steps.isEmpty)
    }

    @Test func `a lone segment is held against what was seen before`() {
        var plan = plan(stored: [range(0, 63.8)], [segment(1, 63.8, 64, rate: 0.001)], wanted: 1)
        #expect(plan.steps.isEmpty)
        plan.typical = Self.bytes(2)
        #expect(plan.steps == [.race(1, range(63.8, 64))])
        plan.ceiling = 1
        #expect(plan.steps.isEmpty)
    }

    @Test func `a head that does not come is raced`() {
        let stored = [range(0, 63)]
        let segments = [segment(1, 63, 63.1, rate: 1), segment(2, 63.1, 64, isJudged: false)]
        #expect(plan(stored: stored, segments, wanted: 2).steps == [.race(2, range(63.1, 64))])
    }

    @Test func `a slow segment gives way where no further connection is allowed`() {
        let segments = [segment(1, 0, 32, rate: 1), segment(2, 32, 64, rate: 0.05)]
        var plan = plan(segments, wanted: 2, ceiling: 2)
        #expect(plan.steps.isEmpty)
        plan.mayReplace = true
        #expect(plan.steps == [.replace(2)])
        plan.segments[1].bytesPerSecond = Self.bytes(0.2)
        #expect(plan.steps.isEmpty)
    }

    @Test func `when all stand still nobody is raced`() {
        let segments = [segment(1, 0, 32, rate: 0), segment(2, 32, 64, rate: 0)]
        var plan = plan(segments, wanted: 2, ceiling: 8)
        plan.mayReplace = true
        #expect(plan.steps.isEmpty)
    }

    @Test func `where all stand still a new one is expected to bring what was seen before`() {
        let segments = [segment(1, 0, 32, rate: 0), segment(2, 32, 64, rate: 0)]
        var plan = plan(segments, wanted: 2, ceiling: 3)
        plan.typical = Self.bytes(4)
        #expect(plan.steps == [.race(1, range(0, 32))])
    }

    @Test func `a racer that stands still itself gives way to another`() {
        let stored = [range(0, 63.8)]
        var segments = [
            segment(1, 63.8, 63.9, rate: 0), segment(2, 63.9, 64, rate: 1),
            segment(3, 63.8, 63.9, rate: 0, rival: 1),
        ]
        for isJudged in [true, false] {
            segments[2].isJudged = isJudged
            var plan = plan(stored: stored, segments, wanted: 4)
            #expect(plan.steps.isEmpty)
            plan.mayReplace = true
            #expect(plan.steps == [.replace(3)])
            plan.segments[2].age = .seconds(1)
            #expect(plan.steps.isEmpty)
        }
    }

    // MARK: Two at the same bytes

    @Test func `the one that is further has what is left`() {
        // 2 races 1 and is ahead: only its rest can be split.
        let stored = [range(0, 10), range(10, 30)]
        let segments = [segment(1, 10, 64, rate: 0), segment(2, 30, 64, rate: 4, rival: 1)]
        guard case .split(2, let part) = plan(stored: stored, segments, wanted: 3).steps.first
        else {
            Issue.record("not split")
            return
        }
        #expect(part == (range(47, 64)))
    }
}
