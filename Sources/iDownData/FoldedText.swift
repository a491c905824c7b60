// SPDX-License-Identifier: Apache-2.0

// The standard library offers normalization as an underscored interface only, and
// FoundationEssentials has none.
@_spi(_Unicode) import Swift

/// Makes the form of a text for searching and sorting, without differences of letter case and of
/// the encoding of accents.
enum FoldedText {
    /// Folds a name or other text.
    static func fold(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text.lowercased() }
        // Upper case first, so that ß equals ss and ς equals σ (Unicode 5.18, case folding).
        return String(String.UnicodeScalarView(text.uppercased().lowercased()._nfc))
    }

    /// Folds a URL or a part of one, with percent-encoding decoded.
    static func foldURL(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return fold(text) }
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let number = UInt8(String(Substring(digits)), radix: 16)
            {
                bytes.append(number)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        // SQLite would end the text at U+0000.
        return fold(String(decoding: bytes.filter { $0 != 0 }, as: UTF8.self))
    }
}
