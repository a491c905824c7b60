// SPDX-License-Identifier: Apache-2.0

// The standard library shows normal forms under an underscore only; FoundationEssentials has none.
@_spi(_Unicode) import Swift

/// A text in the form in which texts are searched and sorted: case, and the way in which accents
/// are written, make no difference.
enum FoldedText {
    /// Folds what people read.
    static func fold(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text.lowercased() }
        // By way of capitals: so ß meets ss, and ς meets σ (Unicode 5.18, case folding).
        return String(String.UnicodeScalarView(text.uppercased().lowercased()._nfc))
    }

    /// Folds a URL, or what somebody may have copied from one, percent-encoding undone.
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
        // U+0000 would end the text in SQLite.
        return fold(String(decoding: bytes.filter { $0 != 0 }, as: UTF8.self))
    }
}
