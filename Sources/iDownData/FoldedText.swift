// SPDX-License-Identifier: Apache-2.0

// The standard library offers normalization as an underscored interface only, and
// FoundationEssentials has none.
@_spi(_Unicode) import Swift
import iDownState

/// Makes the form of a text for searching and sorting, without differences of letter case and of
/// the encoding of accents.
enum FoldedText {
    /// Folds a name or other text.
    static func fold(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text.lowercased() }
        // Upper case in between, so that ß equals ss and ς equals σ; the capital ẞ has no other upper
        // case (Unicode 5.18, case folding).
        let folded = text.lowercased().uppercased().lowercased()
        return String(String.UnicodeScalarView(folded._nfc))
    }

    /// Folds a URL or a part of one, with percent-encoding decoded.
    static func foldURL(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return fold(text) }
        // SQLite would end the text at U+0000.
        let bytes = PercentEncoding.decode(text.utf8).filter { $0 != 0 }
        return fold(String(decoding: bytes, as: UTF8.self))
    }
}
