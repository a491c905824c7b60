// SPDX-License-Identifier: Apache-2.0

extension SegmentPlan {
    /// A range that further connections could fetch a part of.
    private struct Candidate {
        /// The segment that works at the range; nil for a gap.
        let segment: Segment?
        let range: ByteRange
        /// The rate of that segment, as a multiple of the rate that a new connection is expected to
        /// have.
        let weight: Double
        /// How many connections are added to the range.
        var added = 0

        /// The bytes that each connection would have to bring if one more were added.
        var nextShare: Double { Double(range.length) / (weight + Double(added) + 1) }
    }

    /// Returns the steps that give gaps and the ends of segments to `count` connections, the
    /// largest shares first.
    func shares(among count: Int) -> [Step] {
        var candidates = freeGaps.map { Candidate(segment: nil, range: $0, weight: 0) }
        candidates += segments.compactMap(splitCandidate)
        for _ in 0..<count {
            let open = candidates.indices.filter { isWorthwhile(candidates[$0]) }
            let next = open.max { candidates[$0].nextShare < candidates[$1].nextShare }
            guard let next else { break }
            candidates[next].added += 1
        }
        return candidates.flatMap(steps)
    }

    /// Whether one more connection is worth a request; the first one of a gap always is.
    private func isWorthwhile(_ candidate: Candidate) -> Bool {
        if candidate.segment == nil, candidate.added == 0 { return true }
        return candidate.nextShare >= Double(Self.smallestShare)
    }

    /// The ranges that have not come and that no connection fetches.
    var freeGaps: [ByteRange] {
        var covered = stored
        for segment in segments {
            if let range = ByteRange(from: segment.position, to: segment.end) {
                covered.insert(range)
            }
        }
        return covered.gaps(upTo: total)
    }

    private func splitCandidate(_ segment: Segment) -> Candidate? {
        guard segment.isJudged, !isCovered(segment), let own = ownRest(of: segment) else {
            return nil
        }
        let expected = expected(besides: segment) ?? segment.bytesPerSecond
        guard let rate = segment.bytesPerSecond, let expected, expected > 0 else {
            return Candidate(segment: segment, range: own, weight: 1)
        }
        let shortest = Self.shortestHelp + headTime * 2
        guard Double(own.length) > Double(rate) * (shortest / .seconds(1)) else { return nil }
        let weight = min(4, max(0.01, Double(rate) / Double(expected)))
        return Candidate(segment: segment, range: own, weight: weight)
    }

    private func steps(_ candidate: Candidate) -> [Step] {
        guard candidate.added > 0 else { return [] }
        let range = candidate.range
        let share = Double(range.length) / (candidate.weight + Double(candidate.added))
        var first = range.first
        if let segment = candidate.segment {
            let kept = max(Int64(share * candidate.weight), safeZone(of: segment))
            guard range.length - kept >= Self.smallestShare else { return [] }
            first += kept
        }
        // The shares between the borders are equally long.
        let length = range.end - first
        let count = Int64(candidate.added)
        let borders = (0...count).map { first + length / count * $0 + length % count * $0 / count }
        return zip(borders, borders.dropFirst()).compactMap { start, end in
            guard let part = ByteRange(from: start, to: end) else { return nil }
            return candidate.segment.map { .split($0.id, part) } ?? .open(part)
        }
    }

    /// Returns how many bytes a segment brings before a new request can be answered.
    private func safeZone(of segment: Segment) -> Int64 {
        let time = headTime * 2 / .seconds(1)
        return Self.leastSafeZone + Int64(Double(segment.bytesPerSecond ?? 0) * time)
    }

    /// Returns what is left of a segment and comes from no other connection; nil where nothing is
    /// left.
    ///
    /// Of two segments at the same bytes, the one that is further ahead has them.
    func ownRest(of segment: Segment) -> ByteRange? {
        var end = segment.end
        for other in segments where other.id != segment.id {
            let isAhead = (other.position, other.id) > (segment.position, segment.id)
            if isAhead { end = min(end, other.position) }
        }
        let missing = missing(from: segment.position, to: end)
        guard let first = missing.first, let last = missing.last else { return nil }
        return ByteRange(from: first.first, to: last.end)
    }

    /// Returns the rate that a new connection is expected to have: the median of the other
    /// segments, without those that stand still, or else what was seen before.
    func expected(besides segment: Segment) -> Int64? {
        let others = segments.filter { $0.id != segment.id }.compactMap(\.bytesPerSecond)
            .filter { $0 > 0 }.sorted()
        return others.isEmpty ? typical : others[others.count / 2]
    }
}
