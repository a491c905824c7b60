// SPDX-License-Identifier: Apache-2.0

internal import CDBus

// Open files go beside the bytes of a message: libdbus gives and takes them only by its iterators,
// one value after the other.

extension WireReader {
    /// Takes the open files of a received message, with `dbus_message_iter_get_basic`.
    ///
    /// - Parameters:
    ///   - message: The message, which keeps its own copies.
    ///   - numbers: Which file each value of type `h` means, in the order of the values.
    /// - Returns: The files by their numbers; without those that a value means and no file came for,
    ///   and those that this process has no room for.
    static func descriptors(
        of message: OpaquePointer,
        numbered numbers: [UInt32]
    ) -> [UInt32: OpenDescriptor] {
        var found: [UInt32: OpenDescriptor] = [:]
        var rest = numbers[...]
        var iterator = DBusMessageIter()
        guard dbus_message_iter_init(message, &iterator) != 0 else { return [:] }
        walk(&iterator) { iterator in
            // Each look at a value makes another copy of its file.
            guard let number = rest.popFirst(), found[number] == nil else { return }
            var descriptor: CInt = -1
            dbus_message_iter_get_basic(&iterator, &descriptor)
            if descriptor >= 0 { found[number] = OpenDescriptor(owning: descriptor) }
        }
        return found
    }

    /// Visits all values of type `h` in their order.
    private static func walk(
        _ iterator: inout DBusMessageIter,
        _ visit: (inout DBusMessageIter) -> Void
    ) {
        while true {
            switch IteratorType(at: &iterator) {
            case .end: return
            case .descriptor: visit(&iterator)
            case .container:
                var inner = DBusMessageIter()
                dbus_message_iter_recurse(&iterator, &inner)
                walk(&inner, visit)
            case .other: break
            }
            dbus_message_iter_next(&iterator)
        }
    }
}

extension Border {
    /// Appends the values of another message that means open files, and those files, with
    /// `dbus_message_iter_append_basic`.
    ///
    /// - Parameters:
    ///   - source: The values; libdbus has checked them.
    ///   - target: A message without values.
    ///   - descriptors: The files, in the order of the values that mean them; libdbus makes copies.
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
            switch IteratorType(at: &from) {
            case .end: return
            case .descriptor:
                guard let descriptor = descriptors.popFirst() else { return }
                try check("dbus_message_iter_append_basic") {
                    withUnsafePointer(to: descriptor.number) {
                        dbus_message_iter_append_basic(&to, code, $0)
                    }
                }
            case .container:
                try copyContainer(code, &from, &to, &descriptors)
            case .other:
                // Every other basic value takes at most eight bytes, or is a pointer.
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
            isTyped && type == nil
                ? 0 : dbus_message_iter_open_container(&to, code, type, &target)
        }
        do throws(BusError) {
            try copy(&inner, &target, &descriptors)
        } catch {
            dbus_message_iter_abandon_container(&to, &target)
            throw error
        }
        // Counted after the call: a container must not be left open, not even by a planned failure.
        let isClosed = dbus_message_iter_close_container(&to, &target)
        try check("dbus_message_iter_close_container") { isClosed }
    }
}

/// What an iterator stands at.
private enum IteratorType {
    case end
    case descriptor
    case container
    case other

    init(at iterator: inout DBusMessageIter) {
        let code = UInt8(truncatingIfNeeded: dbus_message_iter_get_arg_type(&iterator))
        switch code {
        case 0: self = .end
        case TypeCode.unixDescriptor.rawValue: self = .descriptor
        // libdbus calls a structure r and a dictionary's entry e.
        case TypeCode.array.rawValue, TypeCode.variant.rawValue, UInt8(ascii: "r"),
            UInt8(ascii: "e"):
            self = .container
        default: self = .other
        }
    }
}
