// SPDX-License-Identifier: Apache-2.0

internal import CDBus

// Messages whose bytes are put together here. libdbus appends value by value, at ten calls an entry
// of a dictionary; a task, which goes out with every addition and in lists by the thousand, takes
// half the time this way.
extension Message {
    /// The fields of a header, by the numbers of the specification: "Header Fields".
    enum Field: UInt8 {
        case path = 1
        case interface = 2
        case member = 3
        case replySerial = 5
        case destination = 6
        case signature = 8
    }

    /// A method return with its results.
    static func reply(
        to address: ReplyAddress,
        _ results: [Value],
        border: Border
    ) throws(BusError) -> Message {
        guard holdMarshalled(results) else {
            let message = try reply(to: address, border: border)
            try message.append(results)
            return message
        }
        var fields: [(Field, Value)] = [(.replySerial, .uint32(address.serial))]
        if let sender = address.sender { fields.append((.destination, .string(sender.rawValue))) }
        return try Message(DBUS_MESSAGE_TYPE_METHOD_RETURN, fields, results, border: border)
    }

    /// A signal with its arguments.
    static func signal(
        _ interface: InterfaceName,
        _ member: MemberName,
        from path: ObjectPath,
        _ arguments: [Value],
        border: Border
    ) throws(BusError) -> Message {
        guard holdMarshalled(arguments) else {
            let message = try Message(signal: interface, member, from: path, border: border)
            try message.append(arguments)
            return message
        }
        let fields: [(Field, Value)] = [
            (.path, .objectPath(path)), (.interface, .string(interface.rawValue)),
            (.member, .string(member.rawValue)),
        ]
        return try Message(DBUS_MESSAGE_TYPE_SIGNAL, fields, arguments, border: border)
    }

    /// A message of these fields and values, with `dbus_message_demarshal`.
    ///
    /// - Throws: `InvalidArgs` where libdbus finds that the specification is not kept.
    private init(
        _ kind: CInt,
        _ fields: [(Field, Value)],
        _ arguments: [Value],
        border: Border
    ) throws(BusError) {
        let bytes = try Self.bytes(kind, fields, arguments)
        let pointer = try border.attempt("dbus_message_demarshal") { error in
            bytes.withUnsafeBytes { bytes in
                dbus_message_demarshal(bytes.baseAddress, CInt(clamping: bytes.count), error)
            }
        }
        // The connection gives it one of its own; zero is none, which no message has on the wire.
        dbus_message_set_serial(pointer, 0)
        self.init(taking: pointer, border: border)
    }

    /// Header and body: D-Bus specification, "Message Format".
    private static func bytes(
        _ kind: CInt,
        _ fields: [(Field, Value)],
        _ arguments: [Value]
    ) throws(BusError) -> [UInt8] {
        var writer = WireWriter()
        writer.reserve(256 + arguments.reduce(0) { $0 + $1.leastSize })
        writer.append(UInt8(ascii: UInt16(1).littleEndian == 1 ? "l" : "B"))
        writer.append(UInt8(truncatingIfNeeded: kind))
        // NO_REPLY_EXPECTED, as libdbus has it in replies and signals.
        writer.append(1 as UInt8)
        writer.append(1 as UInt8)
        writer.append(0 as UInt32)
        writer.append(1 as UInt32)
        var signature = Signature.empty
        for argument in arguments { signature = signature + argument.signature }
        let all = fields + [(.signature, .signature(signature))]
        try writer.append(
            .array(
                of: "(yv)",
                all.map { .structure([.byte($0.0.rawValue), .variant($0.1)]) }
            )
        )
        writer.align(to: 8)
        let start = writer.bytes.count
        for argument in arguments { try writer.append(argument) }
        guard writer.bytes.count - start <= Encoder.maximumMessageSize else {
            throw .limitsExceeded(
                "A message may have at most \(Encoder.maximumMessageSize >> 20) MiB."
            )
        }
        writer.set(UInt32(writer.bytes.count - start), at: 4)
        return writer.bytes
    }

    /// Whether something marshalled is among the values.
    private static func holdMarshalled(_ values: [Value]) -> Bool {
        values.contains(where: \.holdsMarshalled)
    }
}

extension Value {
    fileprivate var holdsMarshalled: Bool {
        switch self {
        case .marshalled: true
        case .array(let element, let values):
            element.rawValue.utf8.count > 1 && values.contains(where: \.holdsMarshalled)
        case .dictionary(_, let value, let entries):
            value.rawValue.utf8.count > 1 && entries.contains { $0.value.holdsMarshalled }
        case .structure(let members): members.contains(where: \.holdsMarshalled)
        case .variant(let content): content.holdsMarshalled
        default: false
        }
    }

    /// Bytes to have at hand; no more than a guess.
    fileprivate var leastSize: Int {
        switch self {
        case .marshalled(let dictionary): dictionary.byteCount + 16
        case .array(_, let values): values.reduce(16) { $0 + $1.leastSize }
        default: 16
        }
    }
}
