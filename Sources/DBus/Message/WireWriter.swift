// SPDX-License-Identifier: Apache-2.0

/// Puts values together as they lie in a message: D-Bus specification, "Marshaling", in the byte
/// order of this machine.
///
/// It counts sizes and looks for U+0000, and leaves all other rules to libdbus, which holds the
/// finished message against the specification (`dbus_message_demarshal`): a mistake is an error
/// there, and never the end of the process.
struct WireWriter: Hashable {
    /// All bytes so far; the first one stands at a multiple of 8.
    private(set) var bytes: [UInt8] = []

    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    // MARK: Leaves

    mutating func align(to boundary: Int) {
        let missing = -bytes.count & (boundary - 1)
        for _ in 0..<missing { bytes.append(0) }
    }

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    /// Every fixed type is aligned to its own size.
    mutating func append<Scalar: FixedWidthInteger>(_ scalar: Scalar) {
        align(to: MemoryLayout<Scalar>.size)
        withUnsafeBytes(of: scalar) { bytes.append(contentsOf: $0) }
    }

    /// Overwrites a number that was not known before.
    mutating func set(_ number: UInt32, at place: Int) {
        withUnsafeBytes(of: number) { bytes.replaceSubrange(place..<place + 4, with: $0) }
    }

    mutating func append(text: String) throws(BusError) {
        var text = text
        let holdsNul = text.withUTF8 { characters in
            append(UInt32(truncatingIfNeeded: characters.count))
            bytes.append(contentsOf: characters)
            return characters.contains(0)
        }
        bytes.append(0)
        if holdsNul { throw .invalidArguments("A string must not contain U+0000.") }
    }

    /// A signature; its length is one byte.
    mutating func append(signature: Signature) throws(BusError) {
        let characters = signature.rawValue.utf8
        guard characters.count <= NameRules.maximumLength else {
            throw .limitsExceeded("A signature may have at most \(NameRules.maximumLength) bytes.")
        }
        bytes.append(UInt8(characters.count))
        bytes.append(contentsOf: characters)
        bytes.append(0)
    }

    // MARK: Values

    mutating func append(_ value: Value) throws(BusError) {
        switch value {
        case .byte(let value): append(value)
        case .boolean(let value): append(UInt32(value ? 1 : 0))
        case .int16(let value): append(value)
        case .uint16(let value): append(value)
        case .int32(let value): append(value)
        case .uint32(let value): append(value)
        case .int64(let value): append(value)
        case .uint64(let value): append(value)
        case .double(let value): append(value.bitPattern)
        case .string(let text): try append(text: text)
        case .objectPath(let path): try append(text: path.rawValue)
        case .signature(let value): try append(signature: value)
        case .array(let element, let values):
            try append(arrayOf: element) { writer throws(BusError) in
                for value in values { try writer.append(value) }
            }
        case .dictionary(_, _, let entries):
            try append(arrayOf: Self.entry) { writer throws(BusError) in
                for entry in entries {
                    writer.align(to: 8)
                    try writer.append(entry.key)
                    try writer.append(entry.value)
                }
            }
        case .marshalled(let dictionary):
            if let fault = dictionary.fault { throw fault }
            try append(arrayOf: Self.entry) { writer throws(BusError) in
                writer.bytes.append(contentsOf: dictionary.entries.bytes)
            }
        case .structure(let members):
            align(to: 8)
            for member in members { try append(member) }
        case .variant(let content):
            try append(variant: content)
        case .descriptor:
            throw .invalidArguments("A file descriptor cannot be marshalled.")
        }
    }

    /// A value behind its own signature.
    mutating func append(variant content: Value) throws(BusError) {
        if let type = content.simpleType {
            bytes.append(1)
            bytes.append(type.rawValue)
            bytes.append(0)
        } else {
            try append(signature: content.signature)
        }
        try append(content)
    }

    /// Stands for every dictionary's entry: only its first character counts here.
    private static let entry: Signature = "(sv)"

    /// An array: its length without the padding before the first element, then the elements.
    private mutating func append(
        arrayOf element: Signature,
        _ fill: (inout WireWriter) throws(BusError) -> Void
    ) throws(BusError) {
        append(UInt32(0))
        let place = bytes.count - 4
        if element.rawValue.utf8.first.map({ "xtd({".utf8.contains($0) }) ?? false { align(to: 8) }
        let start = bytes.count
        try fill(&self)
        guard bytes.count - start <= Encoder.maximumArraySize else {
            throw .limitsExceeded(
                "An array may have at most \(Encoder.maximumArraySize >> 20) MiB."
            )
        }
        set(UInt32(bytes.count - start), at: place)
    }
}
