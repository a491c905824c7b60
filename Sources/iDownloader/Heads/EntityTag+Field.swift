// SPDX-License-Identifier: Apache-2.0

import iDownState

extension EntityTag {
    /// The longest tag in bytes: far more than servers need, yet short enough to keep for each
    /// task.
    private static let longest = 1024

    /// Reads the field (RFC 9110 section 8.8.3); nil if it is no valid tag, so that no server gets
    /// back a tag that it could misread.
    init?(field: [UInt8]) {
        guard field.count <= Self.longest else { return nil }
        let weakness = Array("W/".utf8)
        let isWeak = field.starts(with: weakness)
        let opaque = field.dropFirst(isWeak ? weakness.count : 0)
        let quote = UInt8(ascii: "\"")
        guard opaque.count >= 2, opaque.first == quote, opaque.last == quote,
            opaque.dropFirst().dropLast().allSatisfy(\.isTagCharacter),
            // A tag that is not UTF-8 could not be sent back unchanged.
            let text = String(validating: opaque, as: UTF8.self)
        else { return nil }
        self.init(opaque: text, isWeak: isWeak)
    }
}

extension UInt8 {
    /// Whether this is a byte other than a blank, a control character or a quote.
    fileprivate var isTagCharacter: Bool { self > 0x20 && self != 0x22 && self != 0x7F }
}
