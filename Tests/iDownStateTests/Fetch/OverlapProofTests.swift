// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting

@Suite struct OverlapProofTests {
    private static func overlap(before resumePoint: Int64) -> ByteRange? {
        ByteRange(from: max(0, resumePoint - OverlapProof.overlap), to: resumePoint)
    }

    @Test(arguments: [0, 1, 1000, OverlapProof.overlap])
    func `what the overlap covers needs no sample`(held: Int64) {
        var generator = SeededGenerator(seed: 1)
        let samples = OverlapProof.samples(
            of: Sample.first(held),
            leavingOut: Self.overlap(before: held),
            using: &generator
        )
        #expect(samples.isEmpty)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `samples lie on disk, outside of the overlap, and are no longer than they need be`(
        seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        var map = SegmentMap()
        for _ in 0..<Int.random(in: 1...20, using: &generator) {
            let first = Int64.random(in: 0...(1 << 24), using: &generator)
            let length = Int64.random(in: 1...1_000_000, using: &generator)
            if let range = ByteRange(first: first, length: length) { map.insert(range) }
        }
        let resumePoint = try #require(map.ranges.randomElement(using: &generator)).end
        let overlap = try #require(Self.overlap(before: resumePoint))
        let samples = OverlapProof.samples(of: map, leavingOut: overlap, using: &generator)
        #expect(samples.count <= OverlapProof.most)
        for sample in samples {
            #expect(map.ranges.contains { $0.first <= sample.first && sample.end <= $0.end })
            #expect(sample.end <= overlap.first || sample.first >= overlap.end)
            #expect(sample.length <= OverlapProof.sample)
        }
        for range in map.ranges.prefix(16) where range.end <= overlap.first {
            #expect(samples.contains { range.first <= $0.first && $0.end <= range.end })
        }
    }

    @Test(
        arguments: [
            (1 << 10, 2), (64 << 20, 2), (128 << 20, 2), ((128 << 20) + 1, 3), (640 << 20, 10),
            (4 << 30, 64), (1 << 40, 64),
        ] as [(Int64, Int)]
    )
    func `each 64 MiB get a window, all of them at least two and at most 64`(
        held: Int64,
        count: Int
    ) {
        var generator = SeededGenerator(seed: 4)
        let resumePoint = held + OverlapProof.overlap
        let samples = OverlapProof.samples(
            of: Sample.first(resumePoint),
            leavingOut: Self.overlap(before: resumePoint),
            using: &generator
        )
        #expect(samples.count == count)
        #expect(samples.first?.first == 0)
        // Then one in each share, so in order and nowhere crowded.
        let others = Int64(count - 1)
        let shares = samples.dropFirst().map { ($0.first + $0.length / 2) * others / held }
        #expect(held <= OverlapProof.sample || Set(shares).count >= count - 2)
    }

    @Test func `each border of segments gets a window, and the random ones stay`() throws {
        let step: Int64 = 1 << 20
        let ranges = (0..<4).compactMap { ByteRange(first: $0 * 2 * step, length: step) }
        var generator = SeededGenerator(seed: 5)
        let samples = OverlapProof.samples(
            of: SegmentMap(ranges),
            leavingOut: Self.overlap(before: step),
            using: &generator
        )
        // The first segment's end is the resume point: two ends of each of the three others.
        #expect(samples.count == 6 + OverlapProof.fewest)
        for range in ranges.dropFirst() {
            #expect(samples.contains { $0.first == range.first })
            #expect(samples.contains { $0.end == range.end })
        }
    }

    @Test func `many segments leave room for random windows`() {
        let step: Int64 = 1 << 30
        let ranges = (0..<40).compactMap { ByteRange(first: $0 * 2 * step + 1, length: step) }
        var generator = SeededGenerator(seed: 6)
        let samples = OverlapProof.samples(
            of: SegmentMap(ranges),
            leavingOut: nil,
            using: &generator
        )
        #expect(samples.count == OverlapProof.most)
        #expect(samples.count { sample in ranges.contains { $0.first == sample.first } } == 16)
    }

    @Test func `every byte before the overlap may be sampled`() throws {
        let held = OverlapProof.overlap + 3 * OverlapProof.sample
        var seen = SegmentMap()
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<200 {
            OverlapProof.samples(
                of: Sample.first(held),
                leavingOut: Self.overlap(before: held),
                using: &generator
            ).forEach { seen.insert($0) }
        }
        #expect(seen == Sample.first(3 * OverlapProof.sample))
    }

    @Test func `other offsets come with another seed`() {
        let samples = (0..<20 as Range<UInt64>).map { seed in
            var generator = SeededGenerator(seed: seed)
            return OverlapProof.samples(
                of: Sample.first(Sample.half),
                leavingOut: Self.overlap(before: Sample.half),
                using: &generator
            )
        }
        #expect(Set(samples).count > 15)
        #expect(samples.allSatisfy { $0.count == 2 })
    }
}
