// SPDX-License-Identifier: Apache-2.0

import iDownState

/// The fields of a head in order, as raw bytes (RFC 9110 section 5).
package struct FieldList: Hashable, Sendable {
    private struct Field: Hashable {
        /// In small letters.
        var name: String
        var value: [UInt8]
    }

    private var fields: [Field] = []

    package init() {}

    /// Adds a line without its end.
    ///
    /// One that starts with a blank goes on with the line before it (RFC 9112 section 5.2); one
    /// without a colon is passed over.
    mutating func append(line: ArraySlice<UInt8>) {
        if let first = line.first, first.isBlank {
            guard !fields.isEmpty else { return }
            fields[fields.endIndex - 1].value += [0x20] + line.trimmed
            return
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = line[..<colon]
        // A blank before the colon has hidden fields from proxies (RFC 9112 section 5.1).
        guard !name.isEmpty, name.allSatisfy(\.isTokenCharacter) else { return }
        let value = line[line.index(after: colon)...].trimmed
        fields.append(
            Field(name: FieldText.repair(name).lowercased(), value: Array(value))
        )
    }

    /// All values of a field, in order; the name in small letters.
    package func all(_ name: String) -> [[UInt8]] {
        fields.lazy.filter { $0.name == name }.map(\.value)
    }

    /// The first value of a field.
    package func first(_ name: String) -> [UInt8]? {
        fields.first { $0.name == name }?.value
    }

    /// The value of a field that must not be given twice; nil as well where it was, differently:
    /// nobody knows which one is meant.
    package func only(_ name: String) -> [UInt8]? {
        let values = all(name)
        guard let first = values.first, values.allSatisfy({ $0 == first }) else { return nil }
        return first
    }

    /// The members of a field that is a list (RFC 9110 section 5.6.1), empty ones left out.
    package func members(_ name: String) -> [ArraySlice<UInt8>] {
        all(name)
            .flatMap { $0.split(separator: UInt8(ascii: ",")) }
            .map(\.trimmed)
            .filter { !$0.isEmpty }
    }
}

extension UInt8 {
    /// A character of RFC 9110's token (section 5.6.2).
    var isTokenCharacter: Bool {
        isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(self)
    }

    /// The value of a decimal digit; nil for anything else.
    var digitValue: Int64? { isDigit ? Int64(self - UInt8(ascii: "0")) : nil }
}

extension Collection<UInt8> {
    /// A decimal number of digits alone; nil for no digits, for a sign, and beyond 2⁶³ − 1.
    var decimal: Int64? {
        guard !isEmpty else { return nil }
        var number: Int64 = 0
        for byte in self {
            guard let digit = byte.digitValue else { return nil }
            let (tenfold, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tenfold.addingReportingOverflow(digit)
            guard !overflow, !carry else { return nil }
            number = sum
        }
        return number
    }

    /// Whether this is the word of ASCII's small letters, in whatever case.
    func isWord(_ word: String) -> Bool {
        count == word.utf8.count
            && zip(self, word.utf8).allSatisfy { $0 == $1 || ($0.isLetter && $0 | 0x20 == $1) }
    }
}

extension [UInt8] {
    /// The pieces between commas; those in quotes and in `<…>` belong to a piece.
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
