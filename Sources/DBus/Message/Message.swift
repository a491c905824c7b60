// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// A message of libdbus that is about to be sent; owned, and released with this value.
///
/// Its bytes are put together here, and libdbus checks them as a whole, as it checks what comes from
/// the bus: whatever breaks the specification is an error, where libdbus's own functions would end
/// the process. Messages have no lock of their own: one belongs to whoever makes it, and then to the
/// executor of its connection.
struct Message: ~Copyable {
    let pointer: OpaquePointer
    let border: Border

    deinit {
        dbus_message_unref(pointer)
    }

    /// The kinds by their numbers: D-Bus specification, "Message Format".
    enum Kind: UInt8 {
        case call = 1
        case answer = 2
        case error = 3
        case signal = 4
    }

    /// The fields of a header, by the numbers of the specification: "Header Fields".
    fileprivate enum Field: UInt8 {
        case path = 1
        case interface = 2
        case member = 3
        case errorName = 4
        case replySerial = 5
        case destination = 6
        case signature = 8
    }

    /// A call.
    init(
        call destination: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName,
        _ arguments: WireWriter = WireWriter(),
        startsService: Bool = true,
        wantsReply: Bool = true,
        border: Border
    ) throws(BusError) {
        // NO_REPLY_EXPECTED, NO_AUTO_START
        let flags: UInt8 = (wantsReply ? 0 : 1) | (startsService ? 0 : 2)
        try self.init(.call, flags, arguments, border: border) { writer in
            writer.append(.destination, destination.rawValue)
            writer.append(.path, path.rawValue, .objectPath)
            writer.append(.interface, interface.rawValue)
            writer.append(.member, member.rawValue)
        }
    }

    /// A method return with its results, or an error if there is a name for one; built from the
    /// call's serial and sender, so that a long call need not keep its message.
    init(
        replyTo address: ReplyAddress,
        error name: ErrorName? = nil,
        _ results: WireWriter,
        border: Border
    ) throws(BusError) {
        try self.init(name == nil ? .answer : .error, 1, results, border: border) { writer in
            if let name { writer.append(.errorName, name.rawValue) }
            writer.append(.replySerial, .uint32)
            writer.append(number: address.serial)
            if let sender = address.sender { writer.append(.destination, sender.rawValue) }
        }
    }

    /// An error reply.
    init(
        replyTo address: ReplyAddress,
        _ error: BusError,
        border: Border
    ) throws(BusError) {
        // A string with U+0000 cannot be sent, and a text from elsewhere may hold one.
        let text = WireWriter(error.message.replacing("\0", with: "\u{FFFD}"))
        try self.init(replyTo: address, error: error.name, text, border: border)
    }

    /// A signal with its arguments.
    init(
        signal interface: InterfaceName,
        _ member: MemberName,
        from path: ObjectPath,
        _ arguments: WireWriter,
        border: Border
    ) throws(BusError) {
        try self.init(.signal, 1, arguments, border: border) { writer in
            writer.append(.path, path.rawValue, .objectPath)
            writer.append(.interface, interface.rawValue)
            writer.append(.member, member.rawValue)
        }
    }

    /// A message of any kind, with `dbus_message_demarshal`.
    ///
    /// - Throws: `InvalidArgs` where the specification is not kept, `LimitsExceeded`, `NoMemory`.
    private init(
        _ kind: Kind,
        _ flags: UInt8,
        _ body: WireWriter,
        border: Border,
        _ fields: (inout WireWriter) -> Void
    ) throws(BusError) {
        pointer = try Self.pointer(kind, flags, body, border, fields)
        self.border = border
    }

    private static func pointer(
        _ kind: Kind,
        _ flags: UInt8,
        _ body: WireWriter,
        _ border: Border,
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
        let pointer = try Self.demarshal(kind, flags, body, border, fields)
        guard body.descriptors.isEmpty else {
            defer { dbus_message_unref(pointer) }
            let empty = try Self.demarshal(kind, flags, WireWriter(), border, fields)
            do throws(BusError) {
                try border.append(pointer, to: empty, with: body.descriptors)
            } catch {
                dbus_message_unref(empty)
                throw error
            }
            return empty
        }
        return pointer
    }

    /// Header and body: D-Bus specification, "Message Format".
    private static func demarshal(
        _ kind: Kind,
        _ flags: UInt8,
        _ body: WireWriter,
        _ border: Border,
        _ fields: (inout WireWriter) -> Void
    ) throws(BusError) -> OpaquePointer {
        var writer = WireWriter()
        writer.reserve(256 + body.bytes.count)
        let order = UInt8(ascii: UInt16(1).littleEndian == 1 ? "l" : "B")
        for byte in [order, kind.rawValue, flags, 1] { writer.append(number: byte) }
        writer.append(number: UInt32(body.bytes.count))
        // A serial, which no message lacks; the connection gives it one of its own.
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
        let pointer = try border.attempt("dbus_message_demarshal") { error in
            bytes.withUnsafeBytes { bytes in
                dbus_message_demarshal(bytes.baseAddress, CInt(clamping: bytes.count), error)
            }
        }
        dbus_message_set_serial(pointer, 0)
        return pointer
    }
}

extension WireWriter {
    /// Appends a field of a header, which is a text.
    fileprivate mutating func append(
        _ field: Message.Field,
        _ text: String,
        _ type: TypeCode = .string
    ) {
        append(field, type)
        append(text: text)
    }

    /// Appends a field's number and the type of its value, which is a variant: the value follows.
    fileprivate mutating func append(_ field: Message.Field, _ type: TypeCode) {
        align(to: 8)
        // The number, and the signature with its length before it and a zero byte behind it.
        let (number, type) = (UInt32(field.rawValue), UInt32(type.rawValue))
        append(number: UInt32(littleEndian: number | 1 << 8 | type << 16))
    }
}

/// Where the reply to a call goes.
struct ReplyAddress: Sendable {
    let serial: UInt32
    let sender: BusName?
}
