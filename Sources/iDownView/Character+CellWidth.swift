// SPDX-License-Identifier: Apache-2.0

extension Character {
    /// How many cells of a terminal it takes: 0, 1 or 2.
    ///
    /// A cluster is as wide as its widest part; asking for the emoji form (U+FE0F) makes it wide.
    var cellWidth: Int {
        if let byte = utf8.first, utf8.count == 1 { return byte < 0x20 || byte == 0x7F ? 0 : 1 }
        return unicodeScalars.reduce(0) { max($0, $1.cellWidth) }
    }
}

extension Unicode.Scalar {
    fileprivate var cellWidth: Int {
        if self == "\u{FE0F}" || properties.isEmojiPresentation || isEastAsianWide { return 2 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: return 1
        }
    }

    /// East_Asian_Width W or F of Unicode Standard Annex 11, as far as it is not emoji.
    private var isEastAsianWide: Bool {
        switch value {
        case 0x1100...0x115F,  // Hangul, leading consonants
            0x2E80...0x303E,  // CJK radicals and punctuation
            0x3041...0x33FF,  // kana, bopomofo, Hangul compatibility, enclosed
            0x3400...0x4DBF, 0x4E00...0x9FFF,  // ideographs
            0xA000...0xA4CF,  // Yi
            0xA960...0xA97F, 0xAC00...0xD7A3,  // Hangul
            0xF900...0xFAFF,  // compatibility ideographs
            0xFE10...0xFE19, 0xFE30...0xFE6F,  // vertical and small forms
            0xFF01...0xFF60, 0xFFE0...0xFFE6,  // full width forms
            0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF,  // Tangut, Khitan, old kana
            0x1F200...0x1F265,  // enclosed ideographs
            0x20000...0x2FFFD, 0x30000...0x3FFFD:  // supplementary ideographs
            true
        default: false
        }
    }
}
