// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Tells in which lines of a JSON text (RFC 8259) its keys are, and where it stops being JSON.
///
/// JSONDecoder tells neither. The text is in UTF-8.
struct JSONLines {
    /// The keys of the outermost object, each with the line of its first place, from 1 on.
    private(set) var keys: [String: Int] = [:]
    /// The first key that the outermost object has again, and the line of its second place.
    private(set) var repeated: (name: String, line: Int)?
    /// The line in which the text stops being JSON; nil where that was not found.
    private(set) var mistake: Int?
    private let bytes: [UInt8]
    private var place = 0
    private var line = 1

    /// The deepest nesting that JSONDecoder reads.
    private static let deepest = 512

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // A byte order mark.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
        if !passValue(depth: 0) || next != nil { mistake = line }
    }

    /// The next byte that is no white space; nil at the end.
    private var next: UInt8? {
        mutating get {
            while place < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) {
                if bytes[place] == 0x0A { line += 1 }
                place += 1
            }
            return place < bytes.count ? bytes[place] : nil
        }
    }

    /// Passes over one value; false where there is none.
    private mutating func passValue(depth: Int) -> Bool {
        guard depth < Self.deepest else { return false }
        switch next {
        case UInt8(ascii: "{"): return passItems(until: UInt8(ascii: "}"), depth)
        case UInt8(ascii: "["): return passItems(until: UInt8(ascii: "]"), depth)
        case UInt8(ascii: "\""): return passText() != nil
        default:
            let ends = ",]}:\"{[ \t\r\n".utf8
            let word = bytes[place...].prefix { !ends.contains($0) }
            place = word.endIndex
            let text = String(decoding: word, as: UTF8.self)
            return ["true", "false", "null"].contains(text) || Double(text)?.isFinite == true
        }
    }

    private mutating func passItems(until end: UInt8, _ depth: Int) -> Bool {
        place += 1
        // JSONDecoder allows a comma before the end.
        while next != end {
            if end == UInt8(ascii: "}") {
                guard next == UInt8(ascii: "\""), let name = passText() else { return false }
                if depth == 0 { note(name) }
                guard next == UInt8(ascii: ":") else { return false }
                place += 1
            }
            guard passValue(depth: depth + 1) else { return false }
            guard next == UInt8(ascii: ",") else { break }
            place += 1
        }
        guard next == end else { return false }
        place += 1
        return true
    }

    private mutating func note(_ key: String) {
        if keys[key] == nil {
            keys[key] = line
        } else if repeated == nil {
            repeated = (key, line)
        }
    }

    /// Passes over a string and returns it; nil where it is none.
    private mutating func passText() -> String? {
        let start = place
        repeat {
            // A quote after a backslash does not end the string.
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        } while place < bytes.count && bytes[place] != UInt8(ascii: "\"")
        guard place < bytes.count else { return nil }
        place += 1
        let text = bytes[start..<place]
        guard text.contains(where: { $0 == UInt8(ascii: "\\") || $0 < 0x20 }) else {
            return String(validating: text.dropFirst().dropLast(), as: UTF8.self)
        }
        return try? JSONDecoder().decode(String.self, from: Data(text))
    }
}
