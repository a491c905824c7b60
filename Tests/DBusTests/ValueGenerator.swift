// SPDX-License-Identifier: Apache-2.0

import DBus

/// Random values of random types; one seed gives one series.
struct ValueGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// The next 64 bits of splitmix64.
    private mutating func bits() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    private mutating func below(_ bound: Int) -> Int {
        Int(bits() % UInt64(bound))
    }

    /// Any value with at most this many containers inside each other.
    mutating func value(depth: Int) -> Value {
        value(of: type(depth: depth), depth: depth)
    }

    private indirect enum Kind {
        case basic(Int)
        case array(Kind)
        case dictionary(Int, Kind)
        case structure([Kind])
        case variant
    }

    private static let basicTypes: [Signature] = [
        "y", "b", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g",
    ]

    private mutating func type(depth: Int) -> Kind {
        guard depth > 0 else { return .basic(below(12)) }
        switch below(8) {
        case 0: return .array(type(depth: depth - 1))
        case 1: return .dictionary(below(12), type(depth: depth - 1))
        case 2:
            var members: [Kind] = []
            for _ in 0...below(3) { members.append(type(depth: depth - 1)) }
            return .structure(members)
        case 3: return .variant
        default: return .basic(below(12))
        }
    }

    private func signature(_ kind: Kind) -> Signature {
        switch kind {
        case .basic(let index): Self.basicTypes[index]
        case .array(let element):
            Value.array(of: signature(element), []).signature
        case .dictionary(let key, let value):
            Value.dictionary(key: Self.basicTypes[key], value: signature(value), []).signature
        case .structure(let members):
            sample(.structure(members)).signature
        case .variant: "v"
        }
    }

    private func sample(_ kind: Kind) -> Value {
        var copy = self
        return copy.value(of: kind, depth: 1)
    }

    private mutating func value(of kind: Kind, depth: Int) -> Value {
        switch kind {
        case .basic(let index): return basic(index)
        case .array(let element):
            var values: [Value] = []
            for _ in 0..<below(4) { values.append(value(of: element, depth: depth - 1)) }
            return .array(of: signature(element), values)
        case .dictionary(let key, let content):
            var entries: [Value.Entry] = []
            for _ in 0..<below(4) {
                let entry = Value.Entry(
                    key: basic(key),
                    value: value(of: content, depth: depth - 1)
                )
                entries.append(entry)
            }
            return .dictionary(
                key: Self.basicTypes[key],
                value: signature(content),
                entries
            )
        case .structure(let members):
            return .structure(members.map { value(of: $0, depth: depth - 1) })
        case .variant:
            return .variant(value(depth: max(0, depth - 1)))
        }
    }

    private mutating func basic(_ index: Int) -> Value {
        let bits = bits()
        switch index {
        case 0: return .byte(UInt8(truncatingIfNeeded: bits))
        case 1: return .boolean(bits & 1 == 1)
        case 2: return .int16(Int16(truncatingIfNeeded: bits))
        case 3: return .uint16(UInt16(truncatingIfNeeded: bits))
        case 4: return .int32(Int32(truncatingIfNeeded: bits))
        case 5: return .uint32(UInt32(truncatingIfNeeded: bits))
        case 6: return .int64(Int64(truncatingIfNeeded: bits))
        case 7: return .uint64(bits)
        case 8: return .double(Double(Int64(truncatingIfNeeded: bits)) / 1024)
        case 9: return .string(text())
        case 10: return .objectPath(["/", "/a", "/org/idown/_7"][below(3)])
        default: return .signature(["", "s", "a{sv}", "(tt)ay"][below(4)])
        }
    }

    private mutating func text() -> String {
        let alphabet = Array("aZ0 '\"\\/\n\t\u{1}äß€😀\u{FFFF}\u{202E}é")
        var text = ""
        for _ in 0..<below(20) { text.append(alphabet[below(alphabet.count)]) }
        return text
    }
}
