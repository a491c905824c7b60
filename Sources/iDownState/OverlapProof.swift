// SPDX-License-Identifier: Apache-2.0

/// Which bytes on disk are held against the server's where its validators do not tell whether the
/// file is still the same: tags that differ from one edge of a network to the next, weak ones, a
/// date that is too young, none at all, or another URL.
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
    /// How many samples are taken from all that is on disk.
    static let samples = 2
    /// The most ranges that get a sample of their own: as many as a host gives connections.
    static let sampledRanges = 16

    /// The samples to compare before a transfer goes on.
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
        var chosen = (0..<samples).compactMap { _ in
            sample(at: .random(in: 0..<byteCount, using: &generator), of: stored)
        }
        // Segments may have come from servers that did not have the same file.
        guard stored.count > 1 else { return chosen }
        for range in stored.prefix(sampledRanges) {
            let position = Int64.random(in: 0..<range.length, using: &generator)
            if let sample = sample(at: position, of: [range]) { chosen.append(sample) }
        }
        return chosen
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
