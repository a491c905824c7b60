// SPDX-License-Identifier: Apache-2.0

import iDownState

extension ContentRange {
    /// Reads the field (RFC 9110 section 14.4); nil for another unit or any deviation from the
    /// syntax, because bytes in the wrong place would corrupt the file.
    init?(field: [UInt8]) {
        let words = field.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 2, words[0].isWord("bytes") else { return nil }
        let halves = words[1].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let isOpen = halves[1].elementsEqual([UInt8(ascii: "*")])
        let total = halves[1].decimal
        guard isOpen || total != nil else { return nil }
        if halves[0].elementsEqual([UInt8(ascii: "*")]) {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = halves[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ends[0].decimal, let last = ends[1].decimal,
            first <= last, last < total ?? .max,
            let range = ByteRange(from: first, to: last + 1)
        else { return nil }
        self = .satisfied(range, total: total)
    }
}
