// SPDX-License-Identifier: Apache-2.0

/// Which bytes of a file are on disk: the only record of a download's progress.
///
/// The ranges are in order and never overlap or touch: ranges that touch become one.
package struct SegmentMap: Hashable, Sendable {
    package private(set) var ranges: [ByteRange] = []

    package init() {}

    package init(_ ranges: some Sequence<ByteRange>) {
        for range in ranges { insert(range) }
    }

    package var isEmpty: Bool { ranges.isEmpty }

    /// How many bytes are on disk.
    package var byteCount: Int64 { ranges.reduce(0) { $0 + $1.length } }

    /// The offset after the last byte on disk.
    package var end: Int64 { ranges.last?.end ?? 0 }

    /// How many bytes are on disk before the file's first gap.
    package var prefixLength: Int64 {
        guard let first = ranges.first, first.first == 0 else { return 0 }
        return first.length
    }

    /// Adds a range, and joins it with the ranges that it overlaps or touches.
    package mutating func insert(_ range: ByteRange) {
        // Most ranges continue a late one, so a search from the end stops soon.
        var upper = ranges.count
        while upper > 0, ranges[upper - 1].first > range.end { upper -= 1 }
        var lower = upper
        while lower > 0, ranges[lower - 1].end >= range.first { lower -= 1 }
        var joined = range
        if lower < upper {
            let first = min(range.first, ranges[lower].first)
            let end = max(range.end, ranges[upper - 1].end)
            joined = ByteRange(from: first, to: end) ?? range
        }
        ranges.replaceSubrange(lower..<upper, with: CollectionOfOne(joined))
    }

    /// Forgets every byte from `offset` on.
    package mutating func truncate(to offset: Int64) {
        while let last = ranges.last, last.end > offset {
            ranges.removeLast()
            if let rest = ByteRange(from: last.first, to: offset) { ranges.append(rest) }
        }
    }

    /// Forgets the bytes of a range.
    package mutating func remove(_ range: ByteRange) {
        ranges = ranges.flatMap { kept in
            [
                ByteRange(from: kept.first, to: min(kept.end, range.first)),
                ByteRange(from: max(kept.first, range.end), to: kept.end),
            ].compactMap(\.self)
        }
    }

    /// Returns the ranges between 0 and `end` that are not on disk, in order.
    package func gaps(upTo end: Int64) -> [ByteRange] {
        var gaps: [ByteRange] = []
        var position: Int64 = 0
        for range in ranges where position < end {
            if let gap = ByteRange(from: position, to: min(range.first, end)) { gaps.append(gap) }
            position = range.end
        }
        if let gap = ByteRange(from: position, to: end) { gaps.append(gap) }
        return gaps
    }

    /// Whether any byte of the range is on disk.
    package func meets(_ range: ByteRange) -> Bool {
        ranges.contains { $0.first < range.end && range.first < $0.end }
    }

    /// Whether every byte from 0 to `total` is on disk.
    package func covers(_ total: Int64) -> Bool { total == 0 || prefixLength >= total }
}
