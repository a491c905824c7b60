// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting

@Suite struct SegmentMapTests {
    @Test(
        arguments: [
            ([], []),
            ([(0, 4)], [(0, 4)]),
            ([(0, 4), (4, 8)], [(0, 8)]),
            ([(4, 8), (0, 4)], [(0, 8)]),
            ([(0, 4), (5, 8)], [(0, 4), (5, 8)]),
            ([(0, 4), (8, 12), (4, 8)], [(0, 12)]),
            ([(0, 4), (8, 12), (3, 9)], [(0, 12)]),
            ([(0, 12), (3, 9)], [(0, 12)]),
            ([(3, 9), (0, 12)], [(0, 12)]),
            ([(0, 2), (4, 6), (8, 10), (1, 9)], [(0, 10)]),
            ([(8, 10), (0, 2), (4, 6)], [(0, 2), (4, 6), (8, 10)]),
            ([(0, .max), (5, 6)], [(0, .max)]),
        ] as [([(Int64, Int64)], [(Int64, Int64)])]
    )
    func `what overlaps or touches becomes one`(
        added: [(Int64, Int64)],
        kept: [(Int64, Int64)]
    ) {
        #expect(map(added).ranges == ranges(kept))
    }

    @Test(
        arguments: [
            ([(0, 8)], 4, [(0, 4)]),
            ([(0, 8)], 8, [(0, 8)]),
            ([(0, 8)], 9, [(0, 8)]),
            ([(0, 8)], 0, []),
            ([(0, 8)], -1, []),
            ([(0, 8)], .min, []),
            ([(2, 4), (6, 8)], 7, [(2, 4), (6, 7)]),
            ([(2, 4), (6, 8)], 6, [(2, 4)]),
            ([(2, 4), (6, 8)], 5, [(2, 4)]),
            ([(2, 4), (6, 8)], 3, [(2, 3)]),
            ([(2, 4), (6, 8)], 1, []),
        ] as [([(Int64, Int64)], Int64, [(Int64, Int64)])]
    )
    func `truncation forgets every byte from an offset on`(
        before: [(Int64, Int64)],
        offset: Int64,
        after: [(Int64, Int64)]
    ) {
        var map = map(before)
        map.truncate(to: offset)
        #expect(map.ranges == ranges(after))
    }

    @Test(
        arguments: [
            ([], 8, [(0, 8)]),
            ([], 0, []),
            ([], -1, []),
            ([(0, 8)], 8, []),
            ([(0, 8)], 4, []),
            ([(0, 8)], 10, [(8, 10)]),
            ([(2, 4), (6, 8)], 10, [(0, 2), (4, 6), (8, 10)]),
            ([(2, 4), (6, 8)], 5, [(0, 2), (4, 5)]),
            ([(2, 4), (6, 8)], 1, [(0, 1)]),
            ([(2, 4)], .max, [(0, 2), (4, .max)]),
        ] as [([(Int64, Int64)], Int64, [(Int64, Int64)])]
    )
    func `the gaps are what is not on disk`(
        held: [(Int64, Int64)],
        end: Int64,
        gaps: [(Int64, Int64)]
    ) {
        #expect(map(held).gaps(upTo: end) == ranges(gaps))
    }

    @Test func `an empty file is covered by nothing at all`() {
        #expect(SegmentMap().covers(0))
        #expect(!SegmentMap().covers(1))
        #expect(SegmentMap().isEmpty)
        #expect(SegmentMap().end == 0)
        #expect(SegmentMap().byteCount == 0)
    }

    @Test func `bytes behind a gap do not count as the file's start`() {
        let map = map([(2, 4), (6, 8)])
        #expect(map.prefixLength == 0)
        #expect(map.byteCount == 4)
        #expect(map.end == 8)
        #expect(!map.covers(8))
    }

    @Test(arguments: 1...64 as ClosedRange<UInt64>)
    func `the map knows the same bytes as a plain set of them`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var map = SegmentMap()
        var model: Set<Int64> = []
        let length: Int64 = 64
        for _ in 0..<60 {
            if Int.random(in: 0..<8, using: &random) == 0 {
                let offset = Int64.random(in: -1...length, using: &random)
                map.truncate(to: offset)
                model = model.filter { $0 < offset }
            } else {
                let first = Int64.random(in: 0..<length, using: &random)
                let end = Int64.random(in: first + 1...min(length, first + 12), using: &random)
                map.insert(try #require(ByteRange(from: first, to: end)))
                model.formUnion(first..<end)
            }
            let limit = Int64.random(in: 0...length, using: &random)
            guard agrees(map, with: model, upTo: limit) else {
                Issue.record("seed \(seed): \(map.ranges) is not \(model.sorted())")
                return
            }
        }
    }

    private func agrees(_ map: SegmentMap, with model: Set<Int64>, upTo limit: Int64) -> Bool {
        let prefix = (0...Int64.max).first { !model.contains($0) } ?? 0
        let missing = (0..<limit).filter { !model.contains($0) }
        return isInForm(map)
            && bytes(of: map.ranges) == model.sorted()
            && bytes(of: map.gaps(upTo: limit)) == missing
            && map.byteCount == Int64(model.count)
            && map.end == (model.max().map { $0 + 1 } ?? 0)
            && map.prefixLength == prefix
            && map.covers(limit) == missing.isEmpty
            && map.isEmpty == model.isEmpty
            && SegmentMap(map.ranges.reversed()) == map
    }

    /// In order, and neither overlapping nor touching.
    private func isInForm(_ map: SegmentMap) -> Bool {
        zip(map.ranges, map.ranges.dropFirst()).allSatisfy { $0.end < $1.first }
    }

    private func bytes(of ranges: [ByteRange]) -> [Int64] { ranges.flatMap { $0.first..<$0.end } }

    private func ranges(_ pairs: [(Int64, Int64)]) -> [ByteRange] {
        pairs.compactMap { ByteRange(from: $0.0, to: $0.1) }
    }

    private func map(_ pairs: [(Int64, Int64)]) -> SegmentMap { SegmentMap(ranges(pairs)) }

    @Test(
        arguments: [
            (0, 10, [(10, 20), (40, 10)]), (0, 30, [(40, 10)]),
            (5, 10, [(0, 5), (15, 15), (40, 10)]),
            (20, 30, [(0, 20)]), (30, 10, [(0, 30), (40, 10)]),
            (45, 1, [(0, 30), (40, 5), (46, 4)]),
            (0, 100, []), (60, 5, [(0, 30), (40, 10)]),
        ] as [(Int64, Int64, [(Int64, Int64)])]
    )
    func `a range in the middle can be forgotten`(
        first: Int64,
        length: Int64,
        expected: [(Int64, Int64)]
    ) throws {
        let ranges = [(0, 30), (40, 10)].compactMap { ByteRange(first: $0, length: $1) }
        var map = SegmentMap(ranges)
        map.remove(try #require(ByteRange(first: first, length: length)))
        #expect(map.ranges == expected.compactMap { ByteRange(first: $0, length: $1) })
    }
}
