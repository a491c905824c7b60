// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import Glibc

/// Appends values to a message and refuses what libdbus would abort over or the bus cut us off for.
///
/// libdbus itself does not check the limits of arrays and messages when sending; the receiver
/// disconnects whoever breaks them. Sizes are counted as they are on the wire, without the header.
struct Encoder {
    /// Largest array, in bytes; the specification's limit is 64 MiB.
    static let maximumArraySize = 60 << 20

    /// Largest body, in bytes; the specification's limit is 128 MiB with the header.
    static let maximumMessageSize = 120 << 20

    /// The deepest nesting of containers, variants counted: 32 arrays and 32 structures.
    static let maximumDepth = 64

    private let message: OpaquePointer
    private let border: Border
    private var size = 0
    private var depth = 0

    init(message: OpaquePointer, border: Border) {
        self.message = message
        self.border = border
    }

    /// Appends all arguments of a message.
    mutating func append(_ arguments: [Value]) throws(BusError) {
        var total = 0
        for argument in arguments {
            let signature = try checkedSignature(of: argument)
            total += signature.rawValue.utf8.count
        }
        guard total <= NameRules.maximumLength else {
            throw .limitsExceeded("A signature may have at most \(NameRules.maximumLength) bytes.")
        }
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(message, &iterator)
        for argument in arguments {
            try append(argument, to: &iterator)
        }
    }

    // MARK: Values

    private mutating func append(
        _ value: Value,
        to iterator: inout DBusMessageIter
    ) throws(BusError) {
        switch value {
        case .byte(let value): try append(.byte, value, to: &iterator)
        case .boolean(let value): try append(.boolean, dbus_bool_t(value ? 1 : 0), to: &iterator)
        case .int16(let value): try append(.int16, value, to: &iterator)
        case .uint16(let value): try append(.uint16, value, to: &iterator)
        case .int32(let value): try append(.int32, value, to: &iterator)
        case .uint32(let value): try append(.uint32, value, to: &iterator)
        case .int64(let value): try append(.int64, value, to: &iterator)
        case .uint64(let value): try append(.uint64, value, to: &iterator)
        case .double(let value): try append(.double, value, to: &iterator)
        case .string(let text): try append(.string, text: text, to: &iterator)
        case .objectPath(let path): try append(.objectPath, text: path.rawValue, to: &iterator)
        case .signature(let value):
            try append(.signature, text: try checked(value).rawValue, to: &iterator)
        case .descriptor(let descriptor):
            // libdbus sends a copy of its own.
            try append(.unixDescriptor, descriptor.number, to: &iterator)
        case .array(let element, let values):
            try append(values, of: element, to: &iterator)
        case .dictionary(let key, let value, let entries):
            try append(entries, key, value, to: &iterator)
        case .marshalled:
            // Message.of(_:_:) sends these another way.
            throw .invalidArguments("A marshalled value can only be sent in a reply or a signal.")
        case .structure(let members):
            try append(structure: members, to: &iterator)
        case .variant(let content):
            try append(variant: content, to: &iterator)
        }
    }

    private mutating func append<Scalar: BitwiseCopyable>(
        _ type: TypeCode,
        _ scalar: Scalar,
        to iterator: inout DBusMessageIter
    ) throws(BusError) {
        // Every fixed type is aligned to its own size on the wire.
        try count(MemoryLayout<Scalar>.size, alignment: MemoryLayout<Scalar>.size)
        try border.check("dbus_message_iter_append_basic") {
            withUnsafePointer(to: scalar) { pointer in
                dbus_message_iter_append_basic(&iterator, CInt(type.rawValue), pointer)
            }
        }
    }

    private mutating func append(
        _ type: TypeCode,
        text: String,
        to iterator: inout DBusMessageIter
    ) throws(BusError) {
        let length = text.utf8.count
        if type == .signature {
            try count(length + 2, alignment: 1)
        } else {
            try count(4 + length + 1, alignment: 4)
        }
        var holdsNul = false
        try border.check("dbus_message_iter_append_basic") {
            text.withCString { characters in
                guard strlen(characters) == length else {
                    holdsNul = true
                    return 1
                }
                return withUnsafePointer(to: characters) { pointer in
                    dbus_message_iter_append_basic(&iterator, CInt(type.rawValue), pointer)
                }
            }
        }
        if holdsNul { throw .invalidArguments("A string must not contain U+0000.") }
    }

    // MARK: Containers

    private mutating func append(
        _ values: [Value],
        of element: Signature,
        to iterator: inout DBusMessageIter
    ) throws(BusError) {
        guard element.isSingleCompleteType else {
            throw .invalidArguments("\"\(element)\" is not the type of an array's elements.")
        }
        let start = try beginArray(of: element)
        try contain(.array, element.rawValue, in: &iterator) { encoder, inner throws(BusError) in
            for value in values {
                let found = value.signature
                guard found == element else {
                    throw .invalidArguments(
                        "An array of \(element) holds a value of type \(found)."
                    )
                }
                try encoder.append(value, to: &inner)
                try encoder.checkArray(since: start)
            }
        }
    }

    private mutating func append(
        _ entries: [Value.Entry],
        _ key: Signature,
        _ value: Signature,
        to iterator: inout DBusMessageIter
    ) throws(BusError) {
        let isKeyBasic = key.rawValue.utf8.first.flatMap(TypeCode.init(rawValue:))?.isBasic
        guard key.rawValue.utf8.count == 1, isKeyBasic == true, value.isSingleCompleteType else {
            throw .invalidArguments(
                "\"{\(key)\(value)}\" is not the type of a dictionary's entries."
            )
        }
        let entry = "{" + key.rawValue + value.rawValue + "}"
        let start = try beginArray(of: Signature(checked: entry))
        try contain(.array, entry, in: &iterator) { encoder, inner throws(BusError) in
            for entry in entries {
                guard entry.key.signature == key, entry.value.signature == value else {
                    throw .invalidArguments("A dictionary's entry is not of type {\(key)\(value)}.")
                }
                try encoder.count(0, alignment: 8)
                try encoder.contain(.dictionaryStart, nil, in: &inner) {
                    encoder,
                    pair throws(BusError) in
                    try encoder.append(entry.key, to: &pair)
                    try encoder.append(entry.value, to: &pair)
                }
                try encoder.checkArray(since: start)
            }
        }
    }

    private mutating func append(
        structure members: [Value],
        to iterator: inout DBusMessageIter
    ) throws(BusError) {
        guard !members.isEmpty else { throw .invalidArguments("A structure must not be empty.") }
        try count(0, alignment: 8)
        try contain(.structureStart, nil, in: &iterator) { encoder, inner throws(BusError) in
            for member in members {
                try encoder.append(member, to: &inner)
            }
        }
    }

    private mutating func append(
        variant content: Value,
        to iterator: inout DBusMessageIter
    ) throws(BusError) {
        let signature = try checkedSignature(of: content)
        try count(signature.rawValue.utf8.count + 2, alignment: 1)
        try contain(.variant, signature.rawValue, in: &iterator) {
            encoder,
            inner throws(BusError) in
            try encoder.append(content, to: &inner)
        }
    }

    /// Opens a container, fills it, and closes it or, on failure, frees what it holds.
    private mutating func contain(
        _ type: TypeCode,
        _ content: String?,
        in iterator: inout DBusMessageIter,
        _ fill: (inout Encoder, inout DBusMessageIter) throws(BusError) -> Void
    ) throws(BusError) {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else {
            throw .limitsExceeded("Containers may be nested at most \(Self.maximumDepth) deep.")
        }
        let code: CInt =
            switch type {
            case .structureStart: TypeCode.structureInIterator
            case .dictionaryStart: TypeCode.dictionaryEntryInIterator
            default: CInt(type.rawValue)
            }
        var inner = DBusMessageIter()
        try border.check("dbus_message_iter_open_container") {
            dbus_message_iter_open_container(&iterator, code, content, &inner)
        }
        do throws(BusError) {
            try fill(&self, &inner)
        } catch {
            dbus_message_iter_abandon_container(&iterator, &inner)
            throw error
        }
        // Counted after the call: a container must not be left open, not even by a planned failure.
        let isClosed = dbus_message_iter_close_container(&iterator, &inner)
        try border.check("dbus_message_iter_close_container") { isClosed }
    }

    // MARK: Limits

    /// Counts the length field of an array and the padding before its first element.
    private mutating func beginArray(of element: Signature) throws(BusError) -> Int {
        try count(4, alignment: 4)
        let isPadded = element.rawValue.utf8.first.map { "xtd({".utf8.contains($0) } ?? false
        try count(0, alignment: isPadded ? 8 : 1)
        return size
    }

    private func checkArray(since start: Int) throws(BusError) {
        guard size - start <= Self.maximumArraySize else {
            throw .limitsExceeded("An array may have at most \(Self.maximumArraySize >> 20) MiB.")
        }
    }

    private mutating func count(_ bytes: Int, alignment: Int) throws(BusError) {
        size = (size + alignment - 1) / alignment * alignment + bytes
        guard size <= Self.maximumMessageSize else {
            throw .limitsExceeded(
                "A message may have at most \(Self.maximumMessageSize >> 20) MiB."
            )
        }
    }

    /// The signature of an argument or of a variant's content: one complete type within the limits.
    private func checkedSignature(of value: Value) throws(BusError) -> Signature {
        if let type = value.simpleType { return Signature(type) }
        let signature = try checked(value.signature)
        guard signature.isSingleCompleteType else {
            throw .invalidArguments("\"\(signature)\" is not one complete type.")
        }
        return signature
    }

    private func checked(_ signature: Signature) throws(BusError) -> Signature {
        do throws(InvalidName) {
            return try Signature(validating: signature.rawValue)
        } catch {
            throw .invalidArguments(error.description)
        }
    }
}
