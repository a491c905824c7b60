// SPDX-License-Identifier: Apache-2.0

extension SegmentPlan {
    /// A range that further connections could fetch a part of.
    private struct Candidate {
        /// The piece that works at the range; nil for a gap.
        let piece: Piece?
        let range: ByteRange
        /// The rate of that piece, as a multiple of the rate that a new connection is expected to
        /// have.
        let weight: Double
        /// How many connections are added to the range.
        var added = 0

        /// The bytes that each connection would have to bring if one more were added.
        var nextShare: Double { Double(range.length) / (weight + Double(added) + 1) }
    }

    /// Returns the steps that give gaps and the ends of pieces to `count` connections, the largest
    /// shares first.
    func shares(among count: Int) -> [Step] {
        var candidates = freeGaps.map { Candidate(piece: nil, range: $0, weight: 0) }
        candidates += pieces.compactMap(splitCandidate)
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
        if candidate.piece == nil, candidate.added == 0 { return true }
        return candidate.nextShare >= Double(Self.smallestShare)
    }

    /// The ranges that have not come and that no connection fetches.
    var freeGaps: [ByteRange] {
        var covered = stored
        for piece in pieces {
            if let range = ByteRange(from: piece.position, to: piece.end) { covered.insert(range) }
        }
        return covered.gaps(upTo: total)
    }

    private func splitCandidate(_ piece: Piece) -> Candidate? {
        guard piece.isJudged, !isCovered(piece), let own = ownRest(of: piece) else { return nil }
        let expected = expected(besides: piece) ?? piece.bytesPerSecond
        guard let rate = piece.bytesPerSecond, let expected, expected > 0 else {
            return Candidate(piece: piece, range: own, weight: 1)
        }
        let shortest = Self.shortestHelp + headTime * 2
        guard Double(own.length) > Double(rate) * (shortest / .seconds(1)) else { return nil }
        let weight = min(4, max(0.01, Double(rate) / Double(expected)))
        return Candidate(piece: piece, range: own, weight: weight)
    }

    private func steps(_ candidate: Candidate) -> [Step] {
        guard candidate.added > 0 else { return [] }
        let range = candidate.range
        let share = Double(range.length) / (candidate.weight + Double(candidate.added))
        var first = range.first
        if let piece = candidate.piece {
            let kept = max(Int64(share * candidate.weight), safeZone(of: piece))
            guard range.length - kept >= Self.smallestShare else { return [] }
            first += kept
        }
        // The shares between the borders are equally long.
        let length = range.end - first
        let count = Int64(candidate.added)
        let borders = (0...count).map { first + length / count * $0 + length % count * $0 / count }
        return zip(borders, borders.dropFirst()).compactMap { start, end in
            guard let part = ByteRange(from: start, to: end) else { return nil }
            return candidate.piece.map { .split($0.id, part) } ?? .open(part)
        }
    }

    /// Returns how many bytes a piece brings before a new request can be answered.
    private func safeZone(of piece: Piece) -> Int64 {
        let time = headTime * 2 / .seconds(1)
        return 64 << 10 + Int64(Double(piece.bytesPerSecond ?? 0) * time)
    }

    /// Returns what is left of a piece and comes from no other connection; nil where nothing is
    /// left.
    ///
    /// Of two pieces at the same bytes, the one that is further ahead has them.
    func ownRest(of piece: Piece) -> ByteRange? {
        var end = piece.end
        for other in pieces where other.id != piece.id {
            let isAhead = (other.position, other.id) > (piece.position, piece.id)
            if isAhead { end = min(end, other.position) }
        }
        let missing = missing(from: piece.position, to: end)
        guard let first = missing.first, let last = missing.last else { return nil }
        return ByteRange(from: first.first, to: last.end)
    }

    /// Returns the rate that a new connection is expected to have: the median of the other pieces,
    /// without those that stand still, or else what was seen before.
    func expected(besides piece: Piece) -> Int64? {
        let others = pieces.filter { $0.id != piece.id }.compactMap(\.bytesPerSecond)
            .filter { $0 > 0 }.sorted()
        return others.isEmpty ? typical : others[others.count / 2]
    }
}
