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

    /// Where the body of a fitting answer starts.
    package var offset: Int64 {
        switch self {
        case .whole, .decoded: 0
        case .rest(let offset, _): offset
        }
    }
}

extension Ask {
    /// The first request of a transfer, by what is on disk and what is known of its version.
    package static func first(for segments: SegmentMap, of known: RemoteVersion) -> Ask {
        guard segments.prefixLength > 0 else { return .whole }
        guard let validator = known.strongValidator else { return .whole }
        guard known.total != nil, !known.refusesRanges else { return .whole }
        return .rest(
            from: segments.prefixLength,
            ifRange: known.dislikesIfRange ? nil : validator
        )
    }
}
