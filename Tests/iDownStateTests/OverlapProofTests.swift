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
        #expect(samples.count <= 18)
        for sample in samples {
            #expect(map.ranges.contains { $0.first <= sample.first && sample.end <= $0.end })
            #expect(sample.end <= overlap.first || sample.first >= overlap.end)
            #expect(sample.length <= OverlapProof.sample)
        }
        for range in map.ranges.prefix(16) where range.end <= overlap.first {
            #expect(samples.contains { range.first <= $0.first && $0.end <= range.end })
        }
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
