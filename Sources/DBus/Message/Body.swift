// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// The bytes of a message's body, whose first byte stands at a multiple of 8.
///
/// Sendable although the compiler cannot tell: the memory belongs to this object alone and is not
/// changed once `init` has returned.
final class Body: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer
    /// Whether the message is in the byte order of another machine.
    let isSwapped: Bool
    /// What libdbus allocated, and frees.
    private let memory: UnsafeMutableRawPointer?

    deinit { dbus_free(memory) }

    /// Takes the body of a message that libdbus has received, with `dbus_message_marshal`.
    ///
    /// A body is copied once, by libdbus: there may be 128 MiB of it.
    init(of message: OpaquePointer, border: Border) throws(BusError) {
        guard dbus_message_get_signature(message)?.pointee != 0 else {
            (bytes, isSwapped, memory) = (UnsafeRawBufferPointer(start: nil, count: 0), false, nil)
            return
        }
        var data: UnsafeMutablePointer<CChar>?
        var count: CInt = 0
        try border.check("dbus_message_marshal") { dbus_message_marshal(message, &data, &count) }
        memory = UnsafeMutableRawPointer(data)
        let all = UnsafeRawBufferPointer(start: data, count: Int(count))
        // The header's first byte tells the byte order, its second number the length of the body.
        let isWhole = all.count >= 16
        isSwapped = isWhole && all[0] != UInt8(ascii: UInt16(1).littleEndian == 1 ? "l" : "B")
        let number = isWhole ? all.load(fromByteOffset: 4, as: UInt32.self) : .max
        let length = Int(isSwapped ? number.byteSwapped : number)
        // libdbus writes no message that is shorter than its header says.
        let start = length <= all.count ? all.count - length : all.count
        bytes = UnsafeRawBufferPointer(rebasing: all[start...])
    }

    /// Copies bytes.
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
