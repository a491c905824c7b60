// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import iDownState

/// A structured field that is a dictionary (RFC 8941 section 4.2.2), of whose members only those
/// that are byte sequences are kept.
///
/// As the RFC has it, a field that breaks the rules anywhere counts as not sent.
struct StructuredDictionary {
    /// The byte sequences by their keys; of a key given twice the last one.
    private(set) var byteSequences: [String: [UInt8]] = [:]

    /// Reads the field's values, joined in order; nil for what is no dictionary.
    init?(_ values: [[UInt8]]) {
        var reader = Reader(rest: Array(values.joined(separator: Array(", ".utf8)))[...])
        reader.skip(\.isSpace)
        while !reader.rest.isEmpty {
            guard let key = reader.takeKey() else { return nil }
            byteSequences[key] = nil
            if reader.take(UInt8(ascii: "=")) {
                guard let value = reader.takeMember() else { return nil }
                if case .bytes(let bytes) = value { byteSequences[key] = bytes }
            } else if !reader.takeParameters() {
                return nil
            }
            reader.skip(\.isBlank)
            if reader.rest.isEmpty { break }
            guard reader.take(UInt8(ascii: ",")) else { return nil }
            reader.skip(\.isBlank)
            // A comma at the end promises a member that does not come.
            if reader.rest.isEmpty { return nil }
        }
    }
}

/// Walks through a structured field.
private struct Reader {
    enum Value {
        case bytes([UInt8])
        /// Well formed, and of no interest here.
        case other
    }

    var rest: ArraySlice<UInt8>

    mutating func take(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    @discardableResult
    mutating func skip(_ belongs: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let taken = rest.prefix(while: belongs)
        rest = rest[taken.endIndex...]
        return taken
    }

    /// RFC 8941 section 4.2.3.3.
    mutating func takeKey() -> String? {
        guard let first = rest.first, first.isSmallLetter || first == UInt8(ascii: "*") else {
            return nil
        }
        return String(decoding: skip(\.isKeyCharacter), as: UTF8.self)
    }

    /// An item or an inner list, and its parameters.
    mutating func takeMember() -> Value? {
        guard take(UInt8(ascii: "(")) else { return takeItem() }
        while true {
            skip(\.isSpace)
            if take(UInt8(ascii: ")")) { return takeParameters() ? .other : nil }
            guard takeItem() != nil else { return nil }
            guard let next = rest.first, next.isSpace || next == UInt8(ascii: ")") else {
                return nil
            }
        }
    }

    /// RFC 8941 section 4.2.3.2.
    mutating func takeParameters() -> Bool {
        while take(UInt8(ascii: ";")) {
            skip(\.isSpace)
            guard takeKey() != nil else { return false }
            if take(UInt8(ascii: "=")), takeBareItem() == nil { return false }
        }
        return true
    }

    private mutating func takeItem() -> Value? {
        guard let value = takeBareItem(), takeParameters() else { return nil }
        return value
    }

    /// RFC 8941 section 4.2.3.1.
    private mutating func takeBareItem() -> Value? {
        guard let first = rest.first else { return nil }
        switch first {
        case UInt8(ascii: ":"): return takeBytes()
        case UInt8(ascii: "\""): return takeString()
        case UInt8(ascii: "?"):
            rest.removeFirst()
            return take(UInt8(ascii: "0")) || take(UInt8(ascii: "1")) ? .other : nil
        case _ where first.isDigit || first == UInt8(ascii: "-"):
            return takeNumber()
        case _ where first.isLetter || first == UInt8(ascii: "*"):
            skip { $0.isTokenCharacter || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
            return .other
        default: return nil
        }
    }

    private mutating func takeBytes() -> Value? {
        rest.removeFirst()
        let digits = skip { $0 != UInt8(ascii: ":") }
        guard take(UInt8(ascii: ":")), let bytes = Base64.decode(digits) else { return nil }
        return .bytes(bytes)
    }

    private mutating func takeString() -> Value? {
        rest.removeFirst()
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return .other
            case UInt8(ascii: "\\"):
                guard take(UInt8(ascii: "\"")) || take(UInt8(ascii: "\\")) else { return nil }
            case 0x20...0x7E: break
            default: return nil
            }
        }
        return nil
    }

    private mutating func takeNumber() -> Value? {
        _ = take(UInt8(ascii: "-"))
        let whole = skip(\.isDigit).count
        guard (1...15).contains(whole) else { return nil }
        guard take(UInt8(ascii: ".")) else { return .other }
        return whole <= 12 && (1...3).contains(skip(\.isDigit).count) ? .other : nil
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 0x20 }
    fileprivate var isSmallLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
    }
    fileprivate var isKeyCharacter: Bool {
        isSmallLetter || isDigit || "_-.*".utf8.contains(self)
    }
}
