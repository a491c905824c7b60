// SPDX-License-Identifier: Apache-2.0

extension Character {
    /// How many cells of a terminal it takes: 0, 1 or 2.
    ///
    /// An emoji is wide, of however many it is made; asking for its form (U+FE0F) makes one. In all
    /// other clusters each part has its own cells: a vowel that stands beside its letter takes one,
    /// as the parts of a conjunct do.
    var cellWidth: Int {
        if let byte = utf8.first, utf8.count == 1 { return byte < 0x20 || byte == 0x7F ? 0 : 1 }
        let parts = unicodeScalars
        let isEmoji =
            parts.first?.properties.isEmoji == true
            && parts.contains { $0 == "\u{FE0F}" || $0.properties.isEmojiPresentation }
        guard isEmoji else { return parts.reduce(0) { $0 + $1.cellWidth } }
        return parts.reduce(2) { $0 + ($1.properties.isEmoji ? 0 : $1.cellWidth) }
    }
}

extension Unicode.Scalar {
    fileprivate var cellWidth: Int {
        switch properties.generalCategory {
        // Before all else: some of them stand among the wide signs, which they go on top of.
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        if properties.isEmojiPresentation || isEastAsianWide { return 2 }
        return isConjoiningJamo ? 0 : 1
    }

    /// Hangul vowels and final consonants, which go into the cells of the leading consonant.
    private var isConjoiningJamo: Bool {
        switch value {
        case 0x1160...0x11FF, 0xD7B0...0xD7FF: true
        default: false
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
