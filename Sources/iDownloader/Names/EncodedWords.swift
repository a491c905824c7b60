// SPDX-License-Identifier: Apache-2.0

import iDownState

/// Decodes the encoded words of mail headers, `=?utf-8?B?4oKsLnR4dA==?=` (RFC 2047), which some
/// servers put into HTTP fields.
enum EncodedWords {
    /// Returns the text with all encoded words decoded; nil if no word could be decoded.
    static func decode(_ field: [UInt8]) -> String? {
        var text = ""
        var found = false
        var gap: [UInt8] = []
        var isAfterWord = false
        for token in tokens(of: field) {
            if token.first?.isBlank == true {
                gap = Array(token)
                continue
            }
            let word = decodeWord(token)
            // Blanks between two encoded words are dropped (RFC 2047 section 6.2).
            if word == nil || !isAfterWord { text += FieldText.repair(gap) }
            text += word ?? FieldText.repair(token)
            gap = []
            isAfterWord = word != nil
            found = found || word != nil
        }
        return found ? text : nil
    }

    /// Splits a field into runs of blanks and runs of other bytes, in order.
    private static func tokens(of field: [UInt8]) -> [ArraySlice<UInt8>] {
        var tokens: [ArraySlice<UInt8>] = []
        var rest = field[...]
        while let first = rest.first {
            let token = rest.prefix { $0.isBlank == first.isBlank }
            tokens.append(token)
            rest = rest[token.endIndex...]
        }
        return tokens
    }

    private static func decodeWord(_ token: ArraySlice<UInt8>) -> String? {
        guard token.starts(with: Array("=?".utf8)), token.reversed().starts(with: Array("=?".utf8))
        else { return nil }
        let parts = token.split(separator: UInt8(ascii: "?"), omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].count == 1, parts[4].count == 1 else { return nil }
        // RFC 2231 section 5: a language may follow the character set.
        let charset = parts[1].prefix { $0 != UInt8(ascii: "*") }
        guard let bytes = decodeBody(parts[3], encoding: parts[2]) else { return nil }
        return FieldText.decode(bytes, charset: charset)
    }

    private static func decodeBody(
        _ body: ArraySlice<UInt8>,
        encoding: ArraySlice<UInt8>
    ) -> [UInt8]? {
        switch FieldText.repair(encoding).lowercased() {
        case "b": return Base64.decode(body)
        case "q":
            // This is percent-encoding with `=` instead of `%` and `_` for a blank.
            return PercentEncoding.decode(
                body.flatMap { byte -> [UInt8] in
                    switch byte {
                    case UInt8(ascii: "="): [UInt8(ascii: "%")]
                    case UInt8(ascii: "_"): [0x20]
                    case UInt8(ascii: "%"): Array("%25".utf8)
                    default: [byte]
                    }
                }
            )
        default: return nil
        }
    }
}
