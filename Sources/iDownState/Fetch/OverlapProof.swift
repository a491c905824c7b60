// SPDX-License-Identifier: Apache-2.0

/// Chooses the bytes on disk to compare with the server's, where validators do not tell whether the
/// file is still the same: with a weak validator or none, from another URL or a mirror, or from a
/// host that gives one file several ETags.
///
/// If all are equal, the file is taken for the same version; one different byte means another file.
///
/// The answer that continues the file begins with the bytes to compare, and the new version is
/// recorded only after they were equal. So a server that gives each answer another ETag does no
/// harm, and a crash during the comparison proves nothing.
package enum OverlapProof {
    /// How many bytes before the resume point are compared (64 KiB), in the answer that continues
    /// there: one response brings both the proof and the bytes after it.
    package static let overlap: Int64 = 64 << 10
    /// The size of a sample anywhere else (16 KiB): it takes less than a round trip on most lines.
    package static let sample: Int64 = 16 << 10
    /// How many bytes on disk get one sample (64 MiB).
    package static let share: Int64 = 64 << 20
    /// The fewest samples besides those at segment ends: the start of the file and a random one.
    package static let fewest = 2
    /// The most samples in all; each is a request, so they take some seconds on a slow line.
    package static let most = 64
    /// The most samples at segment ends: two for each of the 16 connections that a host gets.
    static let mostAtBorders = 32

    /// Returns the samples to compare before a transfer continues.
    ///
    /// Segments may have come from servers with different files, so both ends of each segment get a
    /// sample. So does the start of the file, where many formats have their date. The other samples
    /// lie at random offsets, one in each of equal shares of the bytes.
    ///
    /// - Parameters:
    ///   - segments: the bytes on disk.
    ///   - overlap: the bytes that are compared anyway.
    ///   - generator: chooses the offsets, so that a server cannot know them in advance.
    /// - Returns: ranges that are wholly on disk; empty where only the overlap is on disk.
    package static func samples(
        of segments: SegmentMap,
        leavingOut overlap: ByteRange?,
        using generator: inout some RandomNumberGenerator
    ) -> [ByteRange] {
        var rest = segments
        if let overlap { rest.remove(overlap) }
        let (stored, byteCount) = (rest.ranges, rest.byteCount)
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

    /// Returns the samples at the ends of the segments, without the start of the file and without
    /// ends that touch the overlap.
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

    /// Returns the sample around the `position`-th of all bytes in `ranges`.
    private static func sample(at position: Int64, of ranges: [ByteRange]) -> ByteRange? {
        var rest = position
        for range in ranges {
            guard rest >= range.length else {
                // The sample is centred on the byte, so that bytes near the ends are as likely as
                // others.
                let start = range.first + rest - sample / 2
                let first = max(range.first, min(start, range.end - sample))
                return ByteRange(from: first, to: min(range.end, first + sample))
            }
            rest -= range.length
        }
        return nil
    }
}
