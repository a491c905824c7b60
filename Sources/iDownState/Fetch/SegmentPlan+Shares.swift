// SPDX-License-Identifier: Apache-2.0

extension SegmentPlan {
    /// A stretch that further connections could take a part of.
    private struct Candidate {
        /// The piece that works at it; nil for a gap.
        let piece: Piece?
        let range: ByteRange
        /// How much of a connection works at it already, measured by what a new one would bring.
        let weight: Double
        /// How many connections are added.
        var added = 0

        /// What each connection would have to bring, with one more.
        var nextShare: Double { Double(range.length) / (weight + Double(added) + 1) }
    }

    /// Gives gaps and the ends of pieces to so many connections, the largest shares first.
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

    /// A gap always has to be fetched by somebody; all else must be worth a request.
    private func isWorthwhile(_ candidate: Candidate) -> Bool {
        if candidate.piece == nil, candidate.added == 0 { return true }
        return candidate.nextShare >= Double(Self.smallestShare)
    }

    /// What neither has come nor is asked for.
    var freeGaps: [ByteRange] {
        var covered = stored
        for piece in pieces {
            if let range = ByteRange(from: piece.position, to: piece.end) { covered.insert(range) }
        }
        return covered.gaps(upTo: total)
    }

    private func splitCandidate(_ piece: Piece) -> Candidate? {
        guard piece.isJudged, let own = ownRest(of: piece) else { return nil }
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
        // The offsets between them lie evenly.
        let length = range.end - first
        let count = Int64(candidate.added)
        let borders = (0...count).map { first + length / count * $0 + length % count * $0 / count }
        return zip(borders, borders.dropFirst()).compactMap { start, end in
            guard let part = ByteRange(from: start, to: end) else { return nil }
            return candidate.piece.map { .split($0.id, part) } ?? .open(part)
        }
    }

    /// What a piece brings before the answer to a new request can be there.
    private func safeZone(of piece: Piece) -> Int64 {
        let time = headTime * 2 / .seconds(1)
        return 64 << 10 + Int64(Double(piece.bytesPerSecond ?? 0) * time)
    }

    /// What is left of a piece and is to come from nobody else.
    ///
    /// Where two work at the same bytes, the one that is further has them.
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

    /// What a connection is expected to bring: the median of the others, else what was seen.
    ///
    /// Others that stand still as well say nothing of what a new one would bring.
    func expected(besides piece: Piece) -> Int64? {
        let others = pieces.filter { $0.id != piece.id }.compactMap(\.bytesPerSecond)
            .filter { $0 > 0 }.sorted()
        return others.isEmpty ? typical : others[others.count / 2]
    }
}
