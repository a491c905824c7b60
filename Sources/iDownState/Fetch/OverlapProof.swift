// SPDX-License-Identifier: Apache-2.0

/// Which bytes on disk are compared with the server's where its validators do not tell whether the
/// file is still the same: a weak validator or none, another URL, a mirror, or a host that gives one
/// file several tags.
///
/// All equal is taken for the same version; one byte that differs is another file.
///
/// The answer that continues the file begins with the bytes to compare, and the record takes the
/// new version only after they were equal. So a server that gives each answer another tag is no
/// trouble, and a crash during the comparison proves nothing.
package enum OverlapProof {
    /// What is compared right before the resume point, in the answer that goes on there (64 KiB):
    /// the same response brings the proof and what follows it.
    package static let overlap: Int64 = 64 << 10
    /// What is compared anywhere else (16 KiB): less than a round trip costs on most lines.
    package static let sample: Int64 = 16 << 10
    /// The bytes on disk that get one window each (64 MiB).
    package static let share: Int64 = 64 << 20
    /// The fewest windows beside those at borders: the start of the file and a random one.
    package static let fewest = 2
    /// The most windows in all: a request each, some seconds on a slow line.
    package static let most = 64
    /// The most windows at borders of segments: two for each of the connections that a host gets.
    static let mostAtBorders = 32

    /// The windows to compare before a transfer goes on.
    ///
    /// Segments may have come from servers that did not have the same file, so both ends of each
    /// get a window. The start of the file gets one, since many formats have their date there. The
    /// others lie at random, one in each of as many equal shares of the bytes.
    ///
    /// - Parameters:
    ///   - segments: what is on disk.
    ///   - overlap: what is compared anyway.
    ///   - generator: where the offsets come from: a server cannot know them before.
    /// - Returns: ranges that are wholly on disk; none where the overlap is all there is.
    package static func samples(
        of segments: SegmentMap,
        leavingOut overlap: ByteRange?,
        using generator: inout some RandomNumberGenerator
    ) -> [ByteRange] {
        let stored = segments.ranges.flatMap { range in
            guard let overlap, overlap.first < range.end, range.first < overlap.end else {
                return [range]
            }
            return [
                ByteRange(from: range.first, to: overlap.first),
                ByteRange(from: overlap.end, to: range.end),
            ].compactMap(\.self)
        }
        let byteCount = stored.reduce(0) { $0 + $1.length }
        guard byteCount > 0 else { return [] }
        let borders = borders(of: stored, leavingOut: overlap)
        let wanted = max(fewest, Int(clamping: (byteCount - 1) / share + 1))
        let start = stored.first.flatMap { $0.first == 0 ? sample(at: 0, of: stored) : nil }
        let count = Int64(min(wanted, most - borders.count) - (start == nil ? 0 : 1))
        return borders + [start].compactMap(\.self)
            + (0..<count).compactMap { index in
                let (first, end) = (byteCount * index / count, byteCount * (index + 1) / count)
                guard first < end else { return sample(at: first, of: stored) }
                return sample(at: .random(in: first..<end, using: &generator), of: stored)
            }
    }

    /// The first and the last bytes of the segments, but for the start of the file and for what
    /// touches the overlap.
    private static func borders(of stored: [ByteRange], leavingOut overlap: ByteRange?)
        -> [ByteRange]
    {
        let windows = stored.flatMap { range in
            let start = range.first == 0 || range.first == overlap?.end ? nil : range.first
            let end = range.end == overlap?.first ? nil : range.end
            let first = start.flatMap { ByteRange(from: $0, to: min(range.end, $0 + sample)) }
            let last = end.flatMap { ByteRange(from: max(range.first, $0 - sample), to: $0) }
            return first == last ? [first] : [first, last]
        }
        return Array(windows.compactMap(\.self).prefix(mostAtBorders))
    }

    /// The sample that holds the byte which is the `position`-th of all in `ranges`.
    private static func sample(at position: Int64, of ranges: [ByteRange]) -> ByteRange? {
        var rest = position
        for range in ranges {
            guard rest >= range.length else {
                // Around the byte, so that the first and the last are as likely as any.
                let start = range.first + rest - sample / 2
                let first = max(range.first, min(start, range.end - sample))
                return ByteRange(from: first, to: min(range.end, first + sample))
            }
            rest -= range.length
        }
        return nil
    }
}
