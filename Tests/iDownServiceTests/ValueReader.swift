// SPDX-License-Identifier: Apache-2.0

import DBus

/// Makes values of given types out of any bytes: equal bytes, equal values.
struct ValueReader {
    /// What the contract knows: chance would never spell it.
    private static let words = [
        "", "7", "99", "/org/idown/Manager1/task/7", "http://127.0.0.1:9/", "states", "text",
        "sort",
        "descending", "offset", "limit", "directory", "filename", "paused", "priority",
        "connections", "headers", "referrer", "user-agent", "token", "on-existing", "speed-limit",
        "mirrors", "checksum", "when-done", "expected-size", "trash-files", "rename", "fail",
        "waiting", "completed", "org.idown.Manager1", "org.idown.Task1", "SpeedLimit",
        "MaxConnections",
        "Priority",
        "MaxConcurrentDownloads", "DownloadDirectory", "HoldOnMetered", "start-all", "added",
        "\u{202E}", "a: b", "sha-256=00",
    ]
    private static let contents = [
        "s", "as", "b", "i", "u", "t", "x", "d", "a{ss}", "a{sv}", "v", "(su)", "y", "o", "g", "ay",
        "a(tt)", "n", "q", "aas",
    ]
    private static let deepest = 20

    private var rest: ArraySlice<UInt8>
    private var depth = 0

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// The next byte; 0 where there is none left.
    private mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func number(below bound: Int) -> Int { Int(byte()) % bound }

    /// One value for each complete type.
    mutating func values(of signature: String) -> [Value] {
        var types = Array(signature.utf8)[...]
        var values: [Value] = []
        while !types.isEmpty { values.append(value(of: &types)) }
        return values
    }

    private mutating func value(of types: inout ArraySlice<UInt8>) -> Value {
        depth += 1
        defer { depth -= 1 }
        switch types.popFirst() {
        case UInt8(ascii: "y"): return .byte(byte())
        case UInt8(ascii: "b"): return .boolean(byte() % 2 == 1)
        case UInt8(ascii: "n"): return .int16(Int16(truncatingIfNeeded: wide()))
        case UInt8(ascii: "q"): return .uint16(UInt16(truncatingIfNeeded: wide()))
        case UInt8(ascii: "i"): return .int32(Int32(truncatingIfNeeded: wide()))
        case UInt8(ascii: "u"): return .uint32(UInt32(truncatingIfNeeded: wide()))
        case UInt8(ascii: "x"): return .int64(Int64(bitPattern: wide()))
        case UInt8(ascii: "t"): return .uint64(wide())
        case UInt8(ascii: "d"): return .double(Double(bitPattern: wide()))
        case UInt8(ascii: "o"):
            return .objectPath(["/", "/org/idown/Manager1/task/7", "/a"][number(below: 3)])
        case UInt8(ascii: "g"):
            return .signature(["", "s", "a{sv}", "(tt)ay"][number(below: 4)])
        case UInt8(ascii: "v"):
            guard depth < Self.deepest else { return .variant(.byte(byte())) }
            let content = Self.contents[number(below: Self.contents.count)]
            var inner = Array(content.utf8)[...]
            return .variant(value(of: &inner))
        case UInt8(ascii: "("):
            var members: [Value] = []
            while types.first != UInt8(ascii: ")") { members.append(value(of: &types)) }
            types.removeFirst()
            return .structure(members)
        case UInt8(ascii: "a"): return array(of: &types)
        default: return .string(text())
        }
    }

    private mutating func array(of types: inout ArraySlice<UInt8>) -> Value {
        let element = Self.first(of: types)
        types = types.dropFirst(element.count)
        let count = depth < Self.deepest ? number(below: 6) : 0
        guard element.first == UInt8(ascii: "{") else {
            var values: [Value] = []
            for _ in 0..<count {
                var inner = element
                values.append(value(of: &inner))
            }
            return .array(of: Self.signature(element), values)
        }
        let key = element.dropFirst().prefix(1)
        let content = element.dropFirst(2).dropLast()
        var entries: [Value.Entry] = []
        for _ in 0..<count {
            var (first, second) = (key, content)
            let name = value(of: &first)
            entries.append(Value.Entry(key: name, value: value(of: &second)))
        }
        return .dictionary(
            key: Self.signature(key),
            value: Self.signature(content),
            entries
        )
    }

    private mutating func wide() -> UInt64 {
        switch byte() {
        case 0: 0
        case 1: 1
        case 2: .max
        case 3: 1 << 63
        case 4: 1 << 31
        case let small where small < 128: UInt64(small)
        default: (0..<8).reduce(0) { sum, _ in sum << 8 | UInt64(byte()) }
        }
    }

    private mutating func text() -> String {
        let kind = Int(byte())
        guard kind >= 128 else { return Self.words[kind % Self.words.count] }
        let length = kind == 255 ? 70_000 : kind - 128
        let own = rest.prefix(min(length, 40))
        rest = rest.dropFirst(own.count)
        let text = String(decoding: own, as: UTF8.self)
        return kind == 255 ? String(repeating: text + "x", count: 2_000) : text
    }

    /// The first complete type.
    private static func first(of types: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var open = 0
        for (index, code) in zip(types.indices, types) {
            switch code {
            case UInt8(ascii: "("), UInt8(ascii: "{"): open += 1
            case UInt8(ascii: ")"), UInt8(ascii: "}"): open -= 1
            case UInt8(ascii: "a"): continue
            default: break
            }
            if open == 0 { return types[...index] }
        }
        return types
    }

    private static func signature(_ types: ArraySlice<UInt8>) -> Signature {
        (try? Signature(validating: String(decoding: types, as: UTF8.self))) ?? .empty
    }
}
