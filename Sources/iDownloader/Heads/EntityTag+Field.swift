// SPDX-License-Identifier: Apache-2.0

import iDownState

extension EntityTag {
    /// Far more than any server needs, and little enough to be kept with each task.
    private static let longest = 1024

    /// Reads the field (RFC 9110 section 8.8.3); nil for what is no tag, so that nothing is sent
    /// back that the server could misread.
    init?(field: [UInt8]) {
        guard field.count <= Self.longest else { return nil }
        let weakness = Array("W/".utf8)
        let isWeak = field.starts(with: weakness)
        let opaque = field.dropFirst(isWeak ? weakness.count : 0)
        let quote = UInt8(ascii: "\"")
        guard opaque.count >= 2, opaque.first == quote, opaque.last == quote,
            opaque.dropFirst().dropLast().allSatisfy(\.isTagCharacter),
            // Bytes that are no text could not be sent back letter by letter.
            let text = String(validating: opaque, as: UTF8.self)
        else { return nil }
        self.init(opaque: text, isWeak: isWeak)
    }
}

extension UInt8 {
    /// Anything but blanks, controls and the quote.
    fileprivate var isTagCharacter: Bool { self > 0x20 && self != 0x22 && self != 0x7F }
}
