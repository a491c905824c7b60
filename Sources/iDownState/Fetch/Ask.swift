// SPDX-License-Identifier: Apache-2.0

/// What a request asks for.
package enum Ask: Hashable, Sendable {
    /// A plain GET: it asks for an unknown file, or for a whole one from its first byte.
    case whole
    /// All bytes from an offset on, if the file still has the validator `ifRange`. Nil sends no
    /// condition, and the answer's validators are compared instead.
    case rest(from: Int64, ifRange: String?)

    /// One range of the file, with the same condition.
    case part(ByteRange, ifRange: String?)
    /// The bytes up to `to`, or up to the file's end where it is nil. Those before `resumingAt` are
    /// on disk and are compared. There is no condition, because the comparison decides.
    case overlap(from: Int64, resumingAt: Int64, to: Int64?)
    /// Bytes that are on disk: they are compared, and nothing is stored.
    case sample(ByteRange)
    /// The file's last bytes, which are on disk: they are compared, and no byte may follow them.
    case ending(ByteRange)

    /// The offset at which the body of a fitting answer starts.
    package var offset: Int64 {
        switch self {
        case .whole: 0
        case .rest(let offset, _): offset
        case .part(let range, _), .sample(let range), .ending(let range): range.first
        case .overlap(let start, _, _): start
        }
    }

    /// The offset at which the body of a fitting answer ends at the latest; nil for the file's end.
    package var end: Int64? {
        switch self {
        case .whole, .rest, .ending: nil
        case .part(let range, _), .sample(let range): range.end
        case .overlap(_, _, let end): end
        }
    }

    /// Whether the request asks for a range.
    package var isPartial: Bool { self != .whole }

    /// The value of If-Range; nil where the request has no condition.
    package var ifRange: String? {
        switch self {
        case .whole, .overlap, .sample, .ending: nil
        case .rest(_, let ifRange), .part(_, let ifRange): ifRange
        }
    }

    /// The same request without a condition.
    package var unconditional: Ask {
        switch self {
        case .whole, .overlap, .sample, .ending: self
        case .rest(let offset, _): .rest(from: offset, ifRange: nil)
        case .part(let range, _): .part(range, ifRange: nil)
        }
    }
}

extension Ask {
    /// Returns the first request of a transfer, given the bytes on disk and their version.
    package static func first(for segments: SegmentMap, of known: RemoteVersion) -> Ask {
        guard !segments.isEmpty, let total = known.total, !known.refusesRanges else {
            return .whole
        }
        guard let validator = known.strongValidator, !known.needsProof, !known.restsOnTime else {
            return .proof(for: segments, upTo: total)
        }
        let ifRange = known.dislikesIfRange ? nil : validator
        // Stored bytes follow the gap: the gap alone is asked for.
        if let gap = segments.gaps(upTo: total).first, gap.end < total {
            return .part(gap, ifRange: ifRange)
        }
        return .rest(from: segments.prefixLength, ifRange: ifRange)
    }

    /// Returns the request whose answer first proves that the bytes on disk are the server's, and
    /// then continues in a gap.
    ///
    /// Where no gap has more than an overlap of stored bytes before it, a plain GET, which every
    /// server answers, fetches the whole file, and the stored bytes are compared with it.
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
