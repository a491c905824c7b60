// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// Counts the bytes that values take in a message: D-Bus specification, "Marshaling".
struct WireSize {
    private(set) var bytes = 0

    /// Adds a value after those that are there.
    mutating func append(_ value: Value) {
        switch value {
        case .byte: append(1, alignment: 1)
        case .int16, .uint16: append(2, alignment: 2)
        case .boolean, .int32, .uint32, .descriptor: append(4, alignment: 4)
        case .int64, .uint64, .double: append(8, alignment: 8)
        case .string(let text): append(4 + text.utf8.count + 1, alignment: 4)
        case .objectPath(let path): append(4 + path.rawValue.utf8.count + 1, alignment: 4)
        case .signature(let signature): append(signature.rawValue.utf8.count + 2, alignment: 1)
        case .array(let element, let values):
            append(4, alignment: 4)
            append(0, alignment: Self.alignment(of: element))
            for value in values { append(value) }
        case .dictionary(_, _, let entries):
            append(4, alignment: 4)
            append(0, alignment: 8)
            for entry in entries {
                append(0, alignment: 8)
                append(entry.key)
                append(entry.value)
            }
        case .marshalled(let dictionary):
            append(4, alignment: 4)
            append(dictionary.byteCount, alignment: 8)
        case .structure(let members):
            append(0, alignment: 8)
            for member in members { append(member) }
        case .variant(let content):
            append(content.signature.rawValue.utf8.count + 2, alignment: 1)
            append(content)
        }
    }

    private mutating func append(_ size: Int, alignment: Int) {
        bytes = (bytes + alignment - 1) / alignment * alignment + size
    }

    /// Returns the alignment of a type, which its first character determines.
    private static func alignment(of signature: Signature) -> Int {
        switch signature.rawValue.utf8.first {
        case UInt8(ascii: "y"), UInt8(ascii: "g"), UInt8(ascii: "v"): 1
        case UInt8(ascii: "n"), UInt8(ascii: "q"): 2
        case UInt8(ascii: "x"), UInt8(ascii: "t"), UInt8(ascii: "d"), UInt8(ascii: "("),
            UInt8(ascii: "{"):
            8
        default: 4
        }
    }
}
