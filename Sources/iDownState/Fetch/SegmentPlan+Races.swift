// SPDX-License-Identifier: Apache-2.0

extension SegmentPlan {
    /// Returns races for the pieces that a second connection would finish far sooner, slowest
    /// first.
    func races(atMost count: Int) -> [Step] {
        let candidates = pieces.compactMap { piece -> (Double, Step)? in
            guard !isRaced(piece), let (rest, timeLeft) = lateRest(of: piece) else { return nil }
            return (timeLeft, .race(piece.id, rest))
        }
        return candidates.sorted { $0.0 > $1.0 }.prefix(count).map(\.1)
    }

    /// Returns the step that lets a piece go on through the next piece, which it would bring in less
    /// than half of the time of that piece's connection and of another one; nil where it would not.
    ///
    /// Some hosts send ranges far slower than the whole file, and a connection that has ended at
    /// its shortened end cannot be had again.
    func takeover(by piece: Piece) -> Step? {
        guard let rate = piece.bytesPerSecond, rate > 0,
            let gap = missing(from: piece.end, to: min(piece.answerEnd, total)).first,
            let next = pieces.first(where: { $0.position <= gap.first && gap.first < $0.end }),
            let nextRate = next.bytesPerSecond
        else { return nil }
        let others = pieces.filter { $0.id != piece.id }.compactMap(\.bytesPerSecond).sorted()
        let expected = max(nextRate, others[others.count / 2])
        let end = min(next.end, piece.answerEnd)
        let time = { (end: Int64) in Double(end - piece.position) / Double(rate) }
        // A piece that is about to end cannot wait until the others were watched for long.
        let isUrgent = time(piece.end) < Self.shortestHelp * 2 / .seconds(1)
        guard isUrgent || (others.count > 1 && next.age >= Self.patience),
            time(end) * 2 * Double(expected) < Double(next.end - next.position)
        else { return nil }
        return .extend(piece.id, to: end)
    }

    /// The id of a slow piece whose rest a new connection should bring in its place, where no
    /// further connection is allowed; nil where there is none.
    var replaceable: Int? {
        guard pieces.count > 1 else { return nil }
        return pieces.first { piece in
            piece.isJudged && !isCovered(piece) && isSlow(piece) && lateRest(of: piece) != nil
        }?.id
    }

    /// The id of a piece that races a slow one and stands still itself, as at hosts that accept
    /// connections and never answer them; nil where there is none.
    var uselessRacer: Int? {
        pieces.first { piece in
            guard piece.rival != nil, piece.age >= Self.patience * 2 else { return false }
            return piece.isJudged ? piece.bytesPerSecond == 0 : piece.age > headTime * 8
        }?.id
    }

    private func isRaced(_ piece: Piece) -> Bool {
        piece.rival != nil || isCovered(piece) || pieces.contains { $0.rival == piece.id }
    }

    /// Whether another, faster piece goes on through the bytes of this one.
    func isCovered(_ piece: Piece) -> Bool {
        piece.isJudged
            && pieces.contains {
                $0.position < piece.position && piece.position < $0.end
                    && $0.bytesPerSecond ?? 0 > piece.bytesPerSecond ?? 0
            }
    }

    /// Returns what is left of a piece, and the seconds until it is done, where a new connection
    /// would need less than half of the time; nil where it would not, and while that is unknown.
    private func lateRest(of piece: Piece) -> (ByteRange, Double)? {
        // A head that is overdue counts as a rate of zero.
        let rate = piece.isJudged ? piece.bytesPerSecond : piece.age > headTime * 4 ? 0 : nil
        guard piece.age >= Self.patience, let rate, let rest = ownRest(of: piece),
            let expected = expected(besides: piece), expected > 0
        else { return nil }
        let timeLeft = Double(rest.length) / Double(rate)
        let start = (headTime * 2 + Self.shortestHelp) / .seconds(1)
        return timeLeft > 2 * (start + Double(rest.length) / Double(expected))
            ? (rest, timeLeft) : nil
    }

    private func isSlow(_ piece: Piece) -> Bool {
        guard let rate = piece.bytesPerSecond, let expected = expected(besides: piece) else {
            return false
        }
        return Double(rate) < Double(expected) * Self.slowPart
    }
}
