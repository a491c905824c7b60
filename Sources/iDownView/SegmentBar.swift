// SPDX-License-Identifier: Apache-2.0

/// Which parts of a file are on disk, as a bar: `███▒····█▒··`.
package struct SegmentBar: Hashable, Sendable {
    /// A cell for each part of the file: `█` is on disk, `▒` is partly on disk, `·` is missing.
    package let text: String

    /// Draws a bar.
    ///
    /// - Parameters:
    ///   - ranges: The byte ranges on disk: first byte and length.
    ///   - total: Bytes of the whole file.
    ///   - width: Cells of the bar; a file of fewer bytes takes a cell for each byte.
    package init(_ ranges: [(first: UInt64, length: UInt64)], total: UInt64, width: Int) {
        let count = min(total, UInt64(max(0, width)))
        // Products have 128 bits, so that they cannot overflow.
        func start(of cell: UInt64) -> UInt64 {
            count.dividingFullWidth(total.multipliedFullWidth(by: cell)).quotient
        }
        // The cell of a byte, or the cell before it, because the starts of cells are rounded down.
        func cell(at byte: UInt64) -> UInt64 {
            total.dividingFullWidth(byte.multipliedFullWidth(by: count)).quotient
        }
        let sizes = (0..<count).map { start(of: $0 + 1) - start(of: $0) }
        var missing = sizes
        for (first, length) in ranges where first < total && length > 0 && count > 0 {
            let end = first + min(length, total - first)
            for place in cell(at: first)...min(cell(at: end - 1) + 1, count - 1) {
                let from = max(first, start(of: place))
                let to = min(end, start(of: place + 1))
                guard from < to else { continue }
                missing[Int(place)] -= min(to - from, missing[Int(place)])
            }
        }
        text = zip(sizes, missing).map { size, missing in
            missing == 0 ? "█" : missing < size ? "▒" : "·"
        }.joined()
    }
}
