// SPDX-License-Identifier: Apache-2.0

/// What a request asks for.
package enum Ask: Hashable, Sendable {
    /// A plain GET: the probe, and the file from its first byte.
    case whole
    /// A plain GET whose body is decoded while it comes: the server encodes what was asked for
    /// as it is.
    case decoded
    /// The bytes from `offset` on, if the content is still what `ifRange` stands for; nil asks
    /// without condition, and the answer's validators are compared instead.
    case rest(from: Int64, ifRange: String?)

    /// One stretch of the file, on the same condition.
    case part(ByteRange, ifRange: String?)

    /// Where the body of a fitting answer starts.
    package var offset: Int64 {
        switch self {
        case .whole, .decoded: 0
        case .rest(let offset, _): offset
        case .part(let range, _): range.first
        }
    }

    /// Where the body of a fitting answer ends at the latest; nil for the file's end.
    package var end: Int64? {
        switch self {
        case .whole, .decoded, .rest: nil
        case .part(let range, _): range.end
        }
    }

    /// Whether it asks for a range.
    package var isPartial: Bool {
        switch self {
        case .whole, .decoded: false
        case .rest, .part: true
        }
    }

    /// The condition that goes with the range; nil where there is none.
    package var ifRange: String? {
        switch self {
        case .whole, .decoded: nil
        case .rest(_, let ifRange), .part(_, let ifRange): ifRange
        }
    }

    /// The same without its condition.
    package var unconditional: Ask {
        switch self {
        case .whole, .decoded: self
        case .rest(let offset, _): .rest(from: offset, ifRange: nil)
        case .part(let range, _): .part(range, ifRange: nil)
        }
    }
}

extension Ask {
    /// The first request of a transfer, by what is on disk and what is known of its version.
    package static func first(for segments: SegmentMap, of known: RemoteVersion) -> Ask {
        guard !segments.isEmpty, let validator = known.strongValidator else { return .whole }
        guard let total = known.total, !known.refusesRanges else { return .whole }
        let ifRange = known.dislikesIfRange ? nil : validator
        // A gap that ends before the file does is asked for alone: the rest is there.
        if let gap = segments.gaps(upTo: total).first, gap.end < total {
            return .part(gap, ifRange: ifRange)
        }
        return .rest(from: segments.prefixLength, ifRange: ifRange)
    }
}
