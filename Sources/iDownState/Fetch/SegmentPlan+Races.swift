// SPDX-License-Identifier: Apache-2.0

extension SegmentPlan {
    /// The pieces that a second connection would end far sooner, the slowest first.
    func races(atMost count: Int) -> [Step] {
        let candidates = pieces.compactMap { piece -> (Double, Step)? in
            guard !isRaced(piece), let rest = ownRest(of: piece) else { return nil }
            guard let timeLeft = timeLeft(of: piece, rest), isLate(piece, timeLeft, rest) else {
                return nil
            }
            return (timeLeft, .race(piece.id, rest))
        }
        return candidates.sorted { $0.0 > $1.0 }.prefix(count).map(\.1)
    }

    /// A slow piece to be given to a new connection, where a second one is not allowed.
    var replaceable: Int? {
        guard pieces.count > 1 else { return nil }
        return pieces.first { piece in
            guard piece.isJudged, isSlow(piece), let rest = ownRest(of: piece) else { return false }
            guard let timeLeft = timeLeft(of: piece, rest) else { return false }
            return isLate(piece, timeLeft, rest)
        }?.id
    }

    /// One that was to help a slow piece and stands still itself, as it does where a host takes
    /// connections and never answers them.
    var uselessRacer: Int? {
        pieces.first { piece in
            guard piece.rival != nil, piece.age >= Self.patience * 2 else { return false }
            return piece.isJudged ? piece.bytesPerSecond == 0 : piece.age > headTime * 8
        }?.id
    }

    private func isRaced(_ piece: Piece) -> Bool {
        piece.rival != nil || pieces.contains { $0.rival == piece.id }
    }

    /// Seconds until a piece is done; nil while nothing can be said.
    private func timeLeft(of piece: Piece, _ rest: ByteRange) -> Double? {
        guard piece.age >= Self.patience else { return nil }
        // A head that does not come is a rate of nothing.
        guard piece.isJudged else { return piece.age > headTime * 4 ? .infinity : nil }
        guard let rate = piece.bytesPerSecond else { return nil }
        return rate == 0 ? .infinity : Double(rest.length) / Double(rate)
    }

    /// Whether a new connection would be done in half of the time.
    private func isLate(_ piece: Piece, _ timeLeft: Double, _ rest: ByteRange) -> Bool {
        guard let expected = expected(besides: piece), expected > 0 else { return false }
        let start = (headTime * 2 + Self.shortestHelp) / .seconds(1)
        return timeLeft > 2 * (start + Double(rest.length) / Double(expected))
    }

    private func isSlow(_ piece: Piece) -> Bool {
        guard let rate = piece.bytesPerSecond, let expected = expected(besides: piece) else {
            return false
        }
        return Double(rate) < Double(expected) * Self.slowPart
    }
}
