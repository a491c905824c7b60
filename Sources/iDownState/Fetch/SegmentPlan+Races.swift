// SPDX-License-Identifier: Apache-2.0

extension SegmentPlan {
    /// Returns races for the segments that a second connection would finish far sooner, slowest
    /// first.
    func races(atMost count: Int) -> [Step] {
        let candidates = segments.compactMap { segment -> (Double, Step)? in
            guard !isRaced(segment), let (rest, timeLeft) = lateRest(of: segment) else {
                return nil
            }
            return (timeLeft, .race(segment.id, rest))
        }
        return candidates.sorted { $0.0 > $1.0 }.prefix(count).map(\.1)
    }

    /// Returns the step that lets a segment go on through the next one, which it would bring in
    /// less than half of the time of the next one's connection and of another; nil where it would
    /// not.
    ///
    /// Some hosts send ranges far slower than the whole file, and a connection that has ended at
    /// its shortened end cannot be had again.
    func takeover(by segment: Segment) -> Step? {
        guard let rate = segment.bytesPerSecond, rate > 0,
            let gap = missing(from: segment.end, to: min(segment.answerEnd, total)).first,
            let next = segments.first(where: { $0.position <= gap.first && gap.first < $0.end }),
            let nextRate = next.bytesPerSecond
        else { return nil }
        let others = segments.filter { $0.id != segment.id }.compactMap(\.bytesPerSecond).sorted()
        let expected = max(nextRate, others[others.count / 2])
        let end = min(next.end, segment.answerEnd)
        let time = { (end: Int64) in Double(end - segment.position) / Double(rate) }
        // A segment that is about to end cannot wait until the others were watched for long.
        let isUrgent = time(segment.end) < Self.shortestHelp * 2 / .seconds(1)
        guard isUrgent || (others.count > 1 && next.age >= Self.patience),
            time(end) * 2 * Double(expected) < Double(next.end - next.position)
        else { return nil }
        return .extend(segment.id, to: end)
    }

    /// The id of a slow segment whose rest a new connection should bring in its place, where no
    /// further connection is allowed; nil where there is none.
    var replaceable: Int? {
        guard segments.count > 1 else { return nil }
        return segments.first { segment in
            segment.isJudged && !isCovered(segment) && isSlow(segment)
                && lateRest(of: segment) != nil
        }?.id
    }

    /// The id of a segment that races a slow one and stands still itself, as at hosts that accept
    /// connections and never answer them; nil where there is none.
    var uselessRacer: Int? {
        segments.first { segment in
            guard segment.rival != nil, segment.age >= Self.patience * 2 else { return false }
            return segment.isJudged ? segment.bytesPerSecond == 0 : segment.age > headTime * 8
        }?.id
    }

    private func isRaced(_ segment: Segment) -> Bool {
        segment.rival != nil || isCovered(segment) || segments.contains { $0.rival == segment.id }
    }

    /// Whether another, faster segment goes on through the bytes of this one.
    func isCovered(_ segment: Segment) -> Bool {
        segment.isJudged
            && segments.contains {
                $0.position < segment.position && segment.position < $0.end
                    && $0.bytesPerSecond ?? 0 > segment.bytesPerSecond ?? 0
            }
    }

    /// Returns what is left of a segment, and the seconds until it is done, where a new connection
    /// would need less than half of the time; nil where it would not, and while that is unknown.
    private func lateRest(of segment: Segment) -> (ByteRange, Double)? {
        // A head that is overdue counts as a rate of zero.
        let rate = segment.isJudged ? segment.bytesPerSecond : segment.age > headTime * 4 ? 0 : nil
        guard segment.age >= Self.patience, let rate, let rest = ownRest(of: segment),
            let expected = expected(besides: segment), expected > 0
        else { return nil }
        let timeLeft = Double(rest.length) / Double(rate)
        let start = (headTime * 2 + Self.shortestHelp) / .seconds(1)
        return timeLeft > 2 * (start + Double(rest.length) / Double(expected))
            ? (rest, timeLeft) : nil
    }

    private func isSlow(_ segment: Segment) -> Bool {
        guard let rate = segment.bytesPerSecond, let expected = expected(besides: segment) else {
            return false
        }
        return Double(rate) < Double(expected) * Self.slowPart
    }
}
