// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// A libdbus message that is about to be sent; this object owns it and releases it.
///
/// This code encodes the bytes, and libdbus checks the whole message like one from the bus. A
/// mistake is then an error; with libdbus's own building functions, it would end the process.
/// Messages have no lock: a message belongs to the code that makes it, then to the executor of its
/// connection.
final class Message {
    let pointer: OpaquePointer

    deinit { dbus_message_unref(pointer) }

    /// The kinds of messages by number: D-Bus specification, "Message Format".
    enum Kind: UInt8 {
        case call = 1
        case answer = 2
        case error = 3
        case signal = 4
    }

    /// The header fields by number: D-Bus specification, "Header Fields".
    fileprivate enum Field: UInt8 {
        case path = 1
        case interface = 2
        case member = 3
        case errorName = 4
        case replySerial = 5
        case destination = 6
        case signature = 8
    }

    /// Creates a call.
    init(
        call destination: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName,
        _ arguments: WireWriter = WireWriter(),
        startsService: Bool = true,
        wantsReply: Bool = true,
        libdbus: LibDBusCalls
    ) throws(BusError) {
        // NO_REPLY_EXPECTED, NO_AUTO_START
        let flags: UInt8 = (wantsReply ? 0 : 1) | (startsService ? 0 : 2)
        pointer = try Self.make(.call, flags, arguments, libdbus) { writer in
            writer.append(.destination, destination.rawValue)
            writer.append(.path, path.rawValue, .objectPath)
            writer.append(.interface, interface.rawValue)
            writer.append(.member, member.rawValue)
        }
    }

    /// Creates a method return with its results, or an error reply if there is an error name.
    ///
    /// The reply only needs the call's serial and sender, so that a long call's message can be
    /// freed.
    init(
        replyTo address: ReplyAddress,
        error name: ErrorName? = nil,
        _ results: WireWriter,
        libdbus: LibDBusCalls
    ) throws(BusError) {
        let kind: Kind = name == nil ? .answer : .error
        pointer = try Self.make(kind, 1, results, libdbus) { writer in
            if let name { writer.append(.errorName, name.rawValue) }
            writer.append(.replySerial, .uint32)
            writer.append(number: address.serial)
            if let sender = address.sender { writer.append(.destination, sender.rawValue) }
        }
    }

    /// Creates an error reply.
    convenience init(
        replyTo address: ReplyAddress,
        _ error: BusError,
        libdbus: LibDBusCalls
    ) throws(BusError) {
        // A string with U+0000 cannot be sent, and an error's text may contain one.
        let scalars = error.message.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }
        let text = WireWriter(String(String.UnicodeScalarView(scalars)))
        try self.init(replyTo: address, error: error.name, text, libdbus: libdbus)
    }

    /// Creates a signal.
    init(
        signal interface: InterfaceName,
        _ member: MemberName,
        from path: ObjectPath,
        _ arguments: WireWriter,
        libdbus: LibDBusCalls
    ) throws(BusError) {
        pointer = try Self.make(.signal, 1, arguments, libdbus) { writer in
            writer.append(.path, path.rawValue, .objectPath)
            writer.append(.interface, interface.rawValue)
            writer.append(.member, member.rawValue)
        }
    }

    /// Creates a message of any kind, with `dbus_message_demarshal`.
    ///
    /// - Throws: `InvalidArgs` if the message breaks the specification; `LimitsExceeded`;
    ///   `NoMemory`.
    private static func make(
        _ kind: Kind,
        _ flags: UInt8,
        _ body: WireWriter,
        _ libdbus: LibDBusCalls,
        _ fields: (inout WireWriter) -> Void
    ) throws(BusError) -> OpaquePointer {
        if let fault = body.fault { throw fault }
        guard body.bytes.count <= WireWriter.maximumBodySize else {
            let most = WireWriter.maximumBodySize >> 20
            throw .limitsExceeded("A message may have at most \(most) MiB.")
        }
        guard body.descriptors.count <= OpenDescriptor.mostInMessage else {
            throw .limitsExceeded(
                "A message may carry at most \(OpenDescriptor.mostInMessage) open files."
            )
        }
        let pointer = try demarshal(kind, flags, body, libdbus, fields)
        guard body.descriptors.isEmpty else {
            defer { dbus_message_unref(pointer) }
            let empty = try demarshal(kind, flags, WireWriter(), libdbus, fields)
            do throws(BusError) {
                try libdbus.append(pointer, to: empty, with: body.descriptors)
            } catch {
                dbus_message_unref(empty)
                throw error
            }
            return empty
        }
        return pointer
    }

    /// Encodes header and body and has libdbus decode them: D-Bus specification, "Message Format".
    private static func demarshal(
        _ kind: Kind,
        _ flags: UInt8,
        _ body: WireWriter,
        _ libdbus: LibDBusCalls,
        _ fields: (inout WireWriter) -> Void
    ) throws(BusError) -> OpaquePointer {
        var writer = WireWriter()
        writer.reserve(256 + body.bytes.count)
        let order = UInt8(ascii: UInt16(1).littleEndian == 1 ? "l" : "B")
        for byte in [order, kind.rawValue, flags, 1] { writer.append(number: byte) }
        writer.append(number: UInt32(body.bytes.count))
        // Every message needs a serial; the connection replaces this one.
        writer.append(number: UInt32(1))
        writer.array(of: "(yv)") { writer in
            fields(&writer)
            if !body.signature.rawValue.isEmpty {
                writer.append(.signature, .signature)
                writer.append(shortText: body.signature.rawValue)
            }
        }
        writer.append(body.bytes[...])
        if let fault = writer.fault { throw fault }
        let bytes = writer.bytes
        let pointer = try libdbus.attempt("dbus_message_demarshal") { error in
            bytes.withUnsafeBytes { bytes in
                dbus_message_demarshal(bytes.baseAddress, CInt(clamping: bytes.count), error)
            }
        }
        dbus_message_set_serial(pointer, 0)
        return pointer
    }
}

extension WireWriter {
    /// Appends a header field with a text.
    fileprivate mutating func append(
        _ field: Message.Field,
        _ text: String,
        _ type: TypeCode = .string
    ) {
        append(field, type)
        append(text: text)
    }

    /// Appends a field's number and the type of its value; the value has to follow.
    ///
    /// The value is a variant.
    fileprivate mutating func append(_ field: Message.Field, _ type: TypeCode) {
        align(to: 8)
        // The field's number, then the signature: its length, its one character, a zero byte.
        let (number, type) = (UInt32(field.rawValue), UInt32(type.rawValue))
        append(number: UInt32(littleEndian: number | 1 << 8 | type << 16))
    }
}

/// Where the reply to a call goes.
struct ReplyAddress: Sendable {
    let serial: UInt32
    let sender: BusName?
}
