// SPDX-License-Identifier: Apache-2.0

import CDBus

@testable import DBus

/// A call that never goes over a bus: libdbus takes it from bytes, or makes it of values.
struct RawMessage: ~Copyable {
    private let pointer: OpaquePointer

    deinit { dbus_message_unref(pointer) }

    /// Reads a message with this body, as libdbus reads what comes from the bus.
    ///
    /// - Returns: nil where libdbus refuses it.
    init?(signature: String, body: [UInt8]) {
        guard let bytes = Self.bytes(signature, body) else { return nil }
        var error = cdbus_error_init()
        defer { dbus_error_free(&error) }
        let message = bytes.withUnsafeBytes { raw in
            raw.withMemoryRebound(to: CChar.self) { characters in
                dbus_message_demarshal(characters.baseAddress, CInt(characters.count), &error)
            }
        }
        guard let message else { return nil }
        pointer = message
    }

    /// Encodes values as the body, as an answer's are.
    init(sending values: [Value]) throws(BusError) {
        try self.init(sending: WireWriter(contents: values))
    }

    /// Takes what was written as the body, as an answer's is.
    init(sending body: WireWriter) throws(BusError) {
        let message = try Message(
            replyTo: ReplyAddress(serial: 1, sender: nil),
            body,
            libdbus: LibDBusCalls(faults: nil)
        )
        pointer = dbus_message_ref(message.pointer)
    }

    /// The body, to be read where it lies.
    func reader() throws(DecodingFailure) -> WireReader {
        do throws(BusError) {
            return try WireReader(bodyOf: pointer, libdbus: LibDBusCalls(faults: nil))
        } catch {
            throw DecodingFailure(error.message)
        }
    }

    func arguments() throws(DecodingFailure) -> [Value] {
        try reader().values()
    }

    /// Whether both have the same bodies; numbers that are none (NaN) are equal here.
    func isEqual(to other: borrowing RawMessage) throws -> Bool {
        try "\(arguments())" == "\(other.arguments())"
    }

    /// The message on the wire: D-Bus specification, "Message Format".
    private static func bytes(_ signature: String, _ body: [UInt8]) -> [UInt8]? {
        guard signature.utf8.count <= 255, !signature.utf8.contains(0) else { return nil }
        var fields: [UInt8] = []
        func pad(to alignment: Int) {
            while fields.count % alignment != 0 { fields.append(0) }
        }
        func append(_ code: UInt8, _ type: String, _ text: String) {
            pad(to: 8)
            fields += [code, 1] + Array(type.utf8) + [0]
            fields += type == "g" ? [UInt8(text.utf8.count)] : word(text.utf8.count)
            fields += Array(text.utf8) + [0]
        }
        append(1, "o", "/")
        append(3, "s", "A")
        append(8, "g", signature)
        let length = fields.count
        pad(to: 8)
        // Little endian, a call, without flags, version 1.
        let start = [UInt8(ascii: "l"), 1, 0, 1] + word(body.count) + word(1) + word(length)
        return start + fields + body
    }

    private static func word(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).littleEndian) { Array($0) }
    }
}
