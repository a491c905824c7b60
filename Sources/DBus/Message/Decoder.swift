// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// Reads the arguments of any message that libdbus has received.
///
/// libdbus has checked the message, so nesting is at most 64 deep and names are valid; what it
/// holds and how much is up to whoever sent it. Of nested arrays libdbus counts only those that
/// follow upon each other, the specification all ("Valid Signatures"): that is checked here, since
/// such a value could not be sent on.
struct Decoder {
    /// The most values in one message.
    ///
    /// A value takes about 40 bytes in memory, and one byte on the
    /// wire in the worst case, so that without a limit a full message would become 5 GB.
    static let maximumValues = 16 << 20

    private var values = 0
    /// Nobody may fill this process's table of open files without being asked for one.
    private let takesDescriptors: Bool

    private init(takesDescriptors: Bool) { self.takesDescriptors = takesDescriptors }

    /// All arguments of a message.
    ///
    /// - Throws: ``DecodingFailure`` if there is a Unix descriptor in it that is not taken, or more
    ///   values than we take. Such descriptors stay with the message and are closed with it.
    static func arguments(
        of message: OpaquePointer,
        takingDescriptors takesDescriptors: Bool = false
    ) throws(DecodingFailure) -> [Value] {
        var iterator = DBusMessageIter()
        guard dbus_message_iter_init(message, &iterator) != 0 else { return [] }
        try check(String(cString: dbus_message_get_signature(message)))
        var decoder = Decoder(takesDescriptors: takesDescriptors)
        return try decoder.rest(of: &iterator)
    }

    private mutating func rest(
        of iterator: inout DBusMessageIter
    ) throws(DecodingFailure) -> [Value] {
        var found: [Value] = []
        while dbus_message_iter_get_arg_type(&iterator) != 0 {
            found.append(try value(at: &iterator))
            dbus_message_iter_next(&iterator)
        }
        return found
    }

    private mutating func value(
        at iterator: inout DBusMessageIter
    ) throws(DecodingFailure) -> Value {
        values += 1
        guard values <= Self.maximumValues else {
            throw DecodingFailure("more than \(Self.maximumValues) values in one message")
        }
        let code = dbus_message_iter_get_arg_type(&iterator)
        if code == TypeCode.structureInIterator {
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            return .structure(try rest(of: &inner))
        }
        switch UInt8(exactly: code).flatMap(TypeCode.init(rawValue:)) {
        case .byte: return .byte(scalar(at: &iterator))
        case .boolean: return .boolean((scalar(at: &iterator) as dbus_bool_t) != 0)
        case .int16: return .int16(scalar(at: &iterator))
        case .uint16: return .uint16(scalar(at: &iterator))
        case .int32: return .int32(scalar(at: &iterator))
        case .uint32: return .uint32(scalar(at: &iterator))
        case .int64: return .int64(scalar(at: &iterator))
        case .uint64: return .uint64(scalar(at: &iterator))
        case .double:
            return .double(Double(bitPattern: scalar(at: &iterator)))
        case .string: return .string(text(at: &iterator))
        case .objectPath: return .objectPath(ObjectPath(checked: text(at: &iterator)))
        case .signature: return .signature(Signature(checked: text(at: &iterator)))
        case .variant:
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            if dbus_message_iter_get_arg_type(&inner) == CInt(TypeCode.array.rawValue)
                || dbus_message_iter_get_arg_type(&inner) == TypeCode.structureInIterator
            {
                guard let signature = Self.signature(of: &inner) else {
                    throw DecodingFailure("a variant without a type")
                }
                try Self.check(signature.rawValue)
            }
            return .variant(try value(at: &inner))
        case .array: return try array(at: &iterator)
        case .unixDescriptor:
            guard takesDescriptors else {
                throw DecodingFailure("a Unix descriptor, which is not taken")
            }
            var number: CInt = -1
            dbus_message_iter_get_basic(&iterator, &number)
            guard number >= 0 else { throw DecodingFailure("a Unix descriptor that is none") }
            return .descriptor(OpenDescriptor(owning: number))
        case .structureStart, .structureEnd, .dictionaryStart, .dictionaryEnd, nil:
            throw DecodingFailure("a value of unknown type \(code)")
        }
    }

    private mutating func array(
        at iterator: inout DBusMessageIter
    ) throws(DecodingFailure) -> Value {
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        let isDictionary =
            dbus_message_iter_get_element_type(&iterator) == TypeCode.dictionaryEntryInIterator
        guard let signature = Self.signature(of: &inner) else {
            throw DecodingFailure("an array without an element type")
        }
        guard isDictionary else {
            return .array(of: signature, try rest(of: &inner))
        }
        // {kv}: the key is one character.
        let pair = signature.rawValue.dropFirst().dropLast()
        var entries: [Value.Entry] = []
        while dbus_message_iter_get_arg_type(&inner) != 0 {
            var entry = DBusMessageIter()
            dbus_message_iter_recurse(&inner, &entry)
            let key = try value(at: &entry)
            dbus_message_iter_next(&entry)
            entries.append(Value.Entry(key: key, value: try value(at: &entry)))
            dbus_message_iter_next(&inner)
        }
        return .dictionary(
            key: Signature(checked: String(pair.prefix(1))),
            value: Signature(checked: String(pair.dropFirst())),
            entries
        )
    }

    // MARK: Leaves

    private func scalar<Scalar: BitwiseCopyable & ExpressibleByIntegerLiteral>(
        at iterator: inout DBusMessageIter
    ) -> Scalar {
        var scalar: Scalar = 0
        dbus_message_iter_get_basic(&iterator, &scalar)
        return scalar
    }

    private func text(at iterator: inout DBusMessageIter) -> String {
        var characters: UnsafePointer<CChar>?
        dbus_message_iter_get_basic(&iterator, &characters)
        return characters.map { String(cString: $0) } ?? ""
    }

    /// Holds the types of values against the specification.
    private static func check(_ signature: String) throws(DecodingFailure) {
        do throws(InvalidName) {
            _ = try Signature(validating: signature)
        } catch {
            throw DecodingFailure("\(error)")
        }
    }

    /// The type at an iterator; NULL only when memory runs out.
    private static func signature(of iterator: inout DBusMessageIter) -> Signature? {
        guard let characters = dbus_message_iter_get_signature(&iterator) else { return nil }
        defer { dbus_free(characters) }
        return Signature(checked: String(cString: characters))
    }
}
