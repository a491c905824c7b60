// SPDX-License-Identifier: Apache-2.0

internal import CDBus

// Open files travel beside the bytes of a message: libdbus passes them only through its iterators,
// one value at a time.

extension WireReader {
    /// Returns the open files of a received message, with `dbus_message_iter_get_basic`.
    ///
    /// - Parameter message: The message, which keeps its own copies.
    /// - Returns: The file of each value of type `h`, in the order of the values. It is nil if none
    ///   came for the value, or if this process has no free descriptor for it.
    static func descriptors(of message: OpaquePointer) -> [OpenDescriptor?] {
        var found: [OpenDescriptor?] = []
        var iterator = DBusMessageIter()
        guard dbus_message_contains_unix_fds(message) != 0,
            dbus_message_iter_init(message, &iterator) != 0
        else { return [] }
        collect(at: &iterator, into: &found)
        return found
    }

    private static func collect(
        at iterator: inout DBusMessageIter,
        into found: inout [OpenDescriptor?]
    ) {
        while true {
            let code = dbus_message_iter_get_arg_type(&iterator)
            switch code {
            case endCode: return
            // Any number of values may mean one file, and each read makes another copy of it.
            case descriptorCode where found.count < OpenDescriptor.mostInMessage:
                var descriptor: CInt = -1
                dbus_message_iter_get_basic(&iterator, &descriptor)
                found.append(descriptor >= 0 ? OpenDescriptor(owning: descriptor) : nil)
            case _ where containerCodes.contains(code):
                var inner = DBusMessageIter()
                dbus_message_iter_recurse(&iterator, &inner)
                collect(at: &inner, into: &found)
            default: break
            }
            dbus_message_iter_next(&iterator)
        }
    }
}

extension LibDBusCalls {
    /// Appends the values of another message, and the open files that the values of type `h` mean,
    /// with `dbus_message_iter_append_basic`.
    ///
    /// - Parameters:
    ///   - source: The message with the values; libdbus has checked it.
    ///   - target: A message without values.
    ///   - descriptors: The files, in the order of the values of type `h`; libdbus copies them.
    /// - Throws: `NoMemory`.
    func append(
        _ source: OpaquePointer,
        to target: OpaquePointer,
        with descriptors: [OpenDescriptor]
    ) throws(BusError) {
        var from = DBusMessageIter()
        var to = DBusMessageIter()
        guard dbus_message_iter_init(source, &from) != 0 else { return }
        dbus_message_iter_init_append(target, &to)
        var rest = descriptors[...]
        try copy(&from, &to, &rest)
    }

    private func copy(
        _ from: inout DBusMessageIter,
        _ to: inout DBusMessageIter,
        _ descriptors: inout ArraySlice<OpenDescriptor>
    ) throws(BusError) {
        while true {
            let code = dbus_message_iter_get_arg_type(&from)
            switch code {
            case endCode: return
            case descriptorCode:
                guard let descriptor = descriptors.popFirst() else { return }
                try check("dbus_message_iter_append_basic") {
                    withUnsafePointer(to: descriptor.number) {
                        dbus_message_iter_append_basic(&to, code, $0)
                    }
                }
            case _ where containerCodes.contains(code):
                try copyContainer(code, &from, &to, &descriptors)
            default:
                // Any other basic value takes at most 8 bytes, or is a pointer.
                var value: UInt64 = 0
                dbus_message_iter_get_basic(&from, &value)
                try check("dbus_message_iter_append_basic") {
                    dbus_message_iter_append_basic(&to, code, &value)
                }
            }
            dbus_message_iter_next(&from)
        }
    }

    private func copyContainer(
        _ code: CInt,
        _ from: inout DBusMessageIter,
        _ to: inout DBusMessageIter,
        _ descriptors: inout ArraySlice<OpenDescriptor>
    ) throws(BusError) {
        var (inner, target) = (DBusMessageIter(), DBusMessageIter())
        dbus_message_iter_recurse(&from, &inner)
        let isTyped =
            code == CInt(TypeCode.array.rawValue) || code == CInt(TypeCode.variant.rawValue)
        let type = isTyped ? dbus_message_iter_get_signature(&inner) : nil
        defer { dbus_free(type) }
        try check("dbus_message_iter_open_container") {
            isTyped && type == nil ? 0 : dbus_message_iter_open_container(&to, code, type, &target)
        }
        do throws(BusError) {
            try copy(&inner, &target, &descriptors)
        } catch {
            dbus_message_iter_abandon_container(&to, &target)
            throw error
        }
        // Checked after the call: not even a planned failure may leave a container open.
        let isClosed = dbus_message_iter_close_container(&to, &target)
        try check("dbus_message_iter_close_container") { isClosed }
    }
}

// The type codes that libdbus gives at an iterator: r is a structure, e a dictionary entry.
private let endCode: CInt = 0
private let descriptorCode = CInt(TypeCode.unixDescriptor.rawValue)
private let containerCodes = "avre".utf8.map { CInt($0) }
