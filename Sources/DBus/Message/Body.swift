// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// The bytes of a message's body, aligned as if the first byte had an offset of 0 modulo 8.
///
/// Sendable, though the compiler cannot check it: this object alone owns the memory, and nothing
/// changes it once `init` has returned.
final class Body: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer
    /// Whether the message has the other byte order than this machine.
    let isSwapped: Bool
    /// Memory that libdbus allocated and frees.
    private let memory: UnsafeMutableRawPointer?

    deinit { dbus_free(memory) }

    /// Creates the body of a message that libdbus has received, with `dbus_message_marshal`.
    ///
    /// libdbus copies the body once; nothing here copies it again, because it may have 128 MiB.
    init(of message: OpaquePointer, libdbus: LibDBusCalls) throws(BusError) {
        guard dbus_message_get_signature(message)?.pointee != 0 else {
            (bytes, isSwapped, memory) = (UnsafeRawBufferPointer(start: nil, count: 0), false, nil)
            return
        }
        var data: UnsafeMutablePointer<CChar>?
        var count: CInt = 0
        try libdbus.check("dbus_message_marshal") { dbus_message_marshal(message, &data, &count) }
        memory = UnsafeMutableRawPointer(data)
        let all = UnsafeRawBufferPointer(start: data, count: Int(count))
        // The header's first byte gives the byte order, its second 32-bit number the body's length.
        let isWhole = all.count >= 16
        isSwapped = isWhole && all[0] != UInt8(ascii: UInt16(1).littleEndian == 1 ? "l" : "B")
        let number = isWhole ? all.load(fromByteOffset: 4, as: UInt32.self) : .max
        let length = Int(isSwapped ? number.byteSwapped : number)
        // libdbus never writes a message that is shorter than its header says; checked anyway.
        let start = length <= all.count ? all.count - length : all.count
        bytes = UnsafeRawBufferPointer(rebasing: all[start...])
    }

    /// Creates a body with a copy of these bytes.
    init(copying source: [UInt8], isSwapped: Bool = false) {
        memory = source.isEmpty ? nil : dbus_malloc(source.count)
        let room = UnsafeMutableRawBufferPointer(
            start: memory,
            count: memory == nil ? 0 : source.count
        )
        if memory != nil { room.copyBytes(from: source) }
        bytes = UnsafeRawBufferPointer(room)
        self.isSwapped = isSwapped
    }
}
