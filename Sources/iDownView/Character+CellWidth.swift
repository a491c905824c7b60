// SPDX-License-Identifier: Apache-2.0

extension Character {
    /// How many cells of a terminal the character takes.
    ///
    /// An emoji takes 2, however many scalars it has; U+FE0F makes an emoji of the scalar before it.
    /// In any other character each scalar has cells of its own, as the vowel signs and conjuncts of
    /// Indic scripts do.
    var cellWidth: Int {
        if let byte = utf8.first, utf8.count == 1 { return byte < 0x20 || byte == 0x7F ? 0 : 1 }
        let parts = unicodeScalars
        guard isEmoji else { return parts.reduce(0) { $0 + $1.cellWidth } }
        return parts.reduce(2) { $0 + ($1.properties.isEmoji ? 0 : $1.cellWidth) }
    }

    /// The character in a form to which all terminals give the same number of cells.
    ///
    /// Terminals disagree about an emoji of several scalars: a family takes 2 cells in one and 8 in
    /// another, and ncurses adds up the widths of the scalars. Such an emoji becomes its first
    /// scalar, and a flag becomes its two letters.
    var simplified: String {
        let letters = unicodeScalars.compactMap(\.flagLetter)
        guard letters.isEmpty else { return String(letters) }
        guard isEmoji, let first = unicodeScalars.first else { return String(self) }
        return String(first)
    }

    private var isEmoji: Bool {
        unicodeScalars.first?.properties.isEmoji == true
            && unicodeScalars.contains { $0 == "\u{FE0F}" || $0.properties.isEmojiPresentation }
    }
}

extension Unicode.Scalar {
    fileprivate var cellWidth: Int {
        switch properties.generalCategory {
        // First, since some of them lie in the wide ranges below: they go on top of wide characters.
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        if properties.isEmojiPresentation || isEastAsianWide { return 2 }
        return isConjoiningJamo ? 0 : 1
    }

    /// The letter of a regional indicator, two of which make a flag; nil for any other scalar.
    fileprivate var flagLetter: Character? {
        guard (0x1F1E6...0x1F1FF).contains(value) else { return nil }
        return Unicode.Scalar(value - 0x1F1E6 + 0x41).map(Character.init)
    }

    /// Whether it is a Hangul vowel or final consonant, drawn in the cells of the leading consonant.
    private var isConjoiningJamo: Bool {
        switch value {
        case 0x1160...0x11FF, 0xD7B0...0xD7FF: true
        default: false
        }
    }

    /// Whether East_Asian_Width is W or F (Unicode Standard Annex 11), leaving out emoji.
    private var isEastAsianWide: Bool {
        switch value {
        case 0x1100...0x115F,  // Hangul, leading consonants
            0x2E80...0x303E,  // CJK radicals and punctuation
            0x3041...0x33FF,  // kana, bopomofo, Hangul compatibility, enclosed
            0x3400...0x9FFF,  // ideographs and hexagrams
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
