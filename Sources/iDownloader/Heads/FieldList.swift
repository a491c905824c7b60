// SPDX-License-Identifier: Apache-2.0

import iDownState

/// The fields of a head in order, as raw bytes (RFC 9110 section 5).
package struct FieldList: Hashable, Sendable {
    private struct Field: Hashable {
        /// In lower case.
        var name: String
        var value: [UInt8]
    }

    private var fields: [Field] = []

    package init() {}

    /// Adds a line, given without its line break.
    ///
    /// A line that starts with a blank continues the line before it (RFC 9112 section 5.2). A line
    /// without a colon is ignored.
    mutating func append(line: ArraySlice<UInt8>) {
        if let first = line.first, first.isBlank {
            guard !fields.isEmpty else { return }
            fields[fields.endIndex - 1].value += [0x20] + line.trimmed
            return
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = line[..<colon]
        // A field with a blank before the colon is ignored, because such fields were used to
        // deceive proxies (RFC 9112 section 5.1).
        guard !name.isEmpty, name.allSatisfy(\.isTokenCharacter) else { return }
        let value = line[line.index(after: colon)...].trimmed
        fields.append(Field(name: FieldText.repair(name).lowercased(), value: Array(value)))
    }

    /// Returns all values of a field in order; `name` is in lower case.
    package func all(_ name: String) -> [[UInt8]] {
        fields.lazy.filter { $0.name == name }.map(\.value)
    }

    /// Returns the first value of a field; nil if there is none.
    package func first(_ name: String) -> [UInt8]? { fields.first { $0.name == name }?.value }

    /// Returns the value of a field that may be given once; nil if it is missing or given with
    /// different values.
    package func only(_ name: String) -> [UInt8]? {
        let values = all(name)
        guard let first = values.first, values.allSatisfy({ $0 == first }) else { return nil }
        return first
    }

    /// Returns the members of a list field (RFC 9110 section 5.6.1), without empty ones.
    package func members(_ name: String) -> [ArraySlice<UInt8>] {
        all(name)
            .flatMap { $0.split(separator: UInt8(ascii: ",")) }
            .map(\.trimmed)
            .filter { !$0.isEmpty }
    }
}

extension UInt8 {
    /// Whether this is a character of a token (RFC 9110 section 5.6.2).
    var isTokenCharacter: Bool { isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }
}

extension Collection<UInt8> {
    /// The decimal number; nil if empty, above 2⁶³ − 1, or with anything but digits.
    var decimal: Int64? {
        allSatisfy(\.isDigit) ? Int64(String(decoding: self, as: UTF8.self)) : nil
    }

    /// Whether this equals `word` (in lower-case ASCII) when case is ignored.
    func isWord(_ word: String) -> Bool {
        count == word.utf8.count
            && zip(self, word.utf8).allSatisfy { $0 == $1 || ($0.isLetter && $0 | 0x20 == $1) }
    }
}

extension [UInt8] {
    /// The pieces between commas; commas in quotes and in `<…>` do not separate pieces.
    var splitAtCommas: [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = startIndex
        var isInReference = false
        var isInQuotes = false
        var isEscaped = false
        for (index, byte) in enumerated() {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isInQuotes: isEscaped = true
            case UInt8(ascii: "\"") where !isInReference: isInQuotes.toggle()
            case UInt8(ascii: "<") where !isInQuotes: isInReference = true
            case UInt8(ascii: ">") where !isInQuotes: isInReference = false
            case UInt8(ascii: ",") where !isInReference && !isInQuotes:
                pieces.append(self[start..<index])
                start = index + 1
            default: break
            }
        }
        pieces.append(self[start...])
        return pieces
    }
}
