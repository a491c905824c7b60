// SPDX-License-Identifier: Apache-2.0

import iDownState

/// Iterates over the `name=value` pairs of a field, without its first word (RFC 9110 section
/// 5.6.6).
///
/// Errors that servers make are accepted: blanks in an unquoted value, a missing closing quote,
/// empty parameters, a missing first word.
struct FieldParameters: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    init(_ field: some Sequence<UInt8>) { rest = Array(field)[...] }

    /// Returns the next pair: the name in lower case, the value without quotes and escapes.
    mutating func next() -> (name: String, value: [UInt8])? {
        while !rest.isEmpty {
            let name = take { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
            guard let separator = rest.popFirst() else { return nil }
            // This is a word without value: the disposition itself, or an empty parameter.
            guard separator == UInt8(ascii: "=") else { continue }
            let value = takeValue()
            return (FieldText.repair(name.trimmed).lowercased(), value)
        }
        return nil
    }

    private mutating func takeValue() -> [UInt8] {
        _ = take(while: \.isBlank)
        guard rest.first == UInt8(ascii: "\"") else {
            let value = take { $0 != UInt8(ascii: ";") }.trimmed
            _ = rest.popFirst()
            return Array(value.withoutApostrophes)
        }
        rest.removeFirst()
        let value = takeQuoted()
        // Bytes between the closing quote and the next semicolon are ignored.
        _ = take { $0 != UInt8(ascii: ";") }
        _ = rest.popFirst()
        return value
    }

    /// Returns the text up to the closing quote, or up to the end if there is none.
    ///
    /// A backslash escapes only a quote or a backslash, so that `"C:\new.txt"` keeps its backslash.
    /// RFC 9110 section 5.6.4 would let it escape any character.
    private mutating func takeQuoted() -> [UInt8] {
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\"), let next = rest.first,
                next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\")
            {
                rest.removeFirst()
                value.append(next)
            } else {
                value.append(byte)
            }
        }
        return value
    }

    private mutating func take(while belongs: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let taken = rest.prefix(while: belongs)
        rest = rest[taken.endIndex...]
        return taken
    }
}

extension ArraySlice<UInt8> {
    /// The slice without blanks at both ends.
    var trimmed: ArraySlice<UInt8> {
        var trimmed = drop(while: \.isBlank)
        while let last = trimmed.last, last.isBlank { trimmed.removeLast() }
        return trimmed
    }

    /// `'name'` without its apostrophes, which some servers use as quotes.
    fileprivate var withoutApostrophes: ArraySlice<UInt8> {
        let apostrophe = UInt8(ascii: "'")
        guard count > 2, first == apostrophe, last == apostrophe else { return self }
        return dropFirst().dropLast()
    }
}

extension UInt8 {
    /// Whether this is a space, tab, CR or LF.
    var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0D || self == 0x0A }
}
