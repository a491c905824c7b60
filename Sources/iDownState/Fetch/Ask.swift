// SPDX-License-Identifier: Apache-2.0

/// What a request asks for.
package enum Ask: Hashable, Sendable {
    /// A plain GET: the probe, and the file from its first byte.
    case whole
    /// The bytes from `offset` on, if the content is still what `ifRange` stands for; nil asks
    /// without condition, and the answer's validators are compared instead.
    case rest(from: Int64, ifRange: String?)

    /// One stretch of the file, on the same condition.
    case part(ByteRange, ifRange: String?)
    /// The bytes from `resumePoint` to `end`, nil for the file's, and those from `start` to there,
    /// which are on disk and are compared: without condition, since the bytes themselves tell.
    case overlap(from: Int64, resumingAt: Int64, to: Int64?)
    /// Bytes that are on disk, to be compared and nothing else.
    case sample(ByteRange)
    /// The file's last bytes, which are on disk: to be compared, and nothing is to come after them.
    case ending(ByteRange)

    /// Where the body of a fitting answer starts.
    package var offset: Int64 {
        switch self {
        case .whole: 0
        case .rest(let offset, _): offset
        case .part(let range, _), .sample(let range), .ending(let range): range.first
        case .overlap(let start, _, _): start
        }
    }

    /// Where the body of a fitting answer ends at the latest; nil for the file's end.
    package var end: Int64? {
        switch self {
        case .whole, .rest, .ending: nil
        case .part(let range, _), .sample(let range): range.end
        case .overlap(_, _, let end): end
        }
    }

    /// Whether it asks for a range.
    package var isPartial: Bool {
        switch self {
        case .whole: false
        case .rest, .part, .overlap, .sample, .ending: true
        }
    }

    /// The condition that goes with the range; nil where there is none.
    package var ifRange: String? {
        switch self {
        case .whole, .overlap, .sample, .ending: nil
        case .rest(_, let ifRange), .part(_, let ifRange): ifRange
        }
    }

    /// The same without its condition.
    package var unconditional: Ask {
        switch self {
        case .whole, .overlap, .sample, .ending: self
        case .rest(let offset, _): .rest(from: offset, ifRange: nil)
        case .part(let range, _): .part(range, ifRange: nil)
        }
    }
}

extension Ask {
    /// The first request of a transfer, by what is on disk and what is known of its version.
    package static func first(for segments: SegmentMap, of known: RemoteVersion) -> Ask {
        guard !segments.isEmpty, let total = known.total, !known.refusesRanges else {
            return .whole
        }
        guard let validator = known.strongValidator, !known.needsProof, !known.restsOnTime else {
            return .proof(for: segments, upTo: total)
        }
        let ifRange = known.dislikesIfRange ? nil : validator
        // A gap that ends before the file does is asked for alone: the rest is there.
        if let gap = segments.gaps(upTo: total).first, gap.end < total {
            return .part(gap, ifRange: ifRange)
        }
        return .rest(from: segments.prefixLength, ifRange: ifRange)
    }

    /// The question whose answer goes on in a gap and shows before whether the bytes on disk are
    /// the server's.
    ///
    /// Where no gap has more before it than an overlap, all of the file is asked for and compared:
    /// a plain GET, which every server answers.
    package static func proof(for segments: SegmentMap, upTo total: Int64) -> Ask {
        for range in segments.ranges where range.length > OverlapProof.overlap {
            guard let gap = segments.gaps(upTo: total).first(where: { $0.first == range.end })
            else { continue }
            return .overlap(
                from: gap.first - OverlapProof.overlap,
                resumingAt: gap.first,
                to: gap.end < total ? gap.end : nil
            )
        }
        return .whole
    }
}
