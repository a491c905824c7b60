// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// A message of libdbus that is being built or sent; owned, and released with this value.
///
/// Messages have no lock of their own: one belongs to whoever makes it, and then to the executor
/// of its connection.
struct Message: ~Copyable {
    let pointer: OpaquePointer
    let border: Border

    deinit {
        dbus_message_unref(pointer)
    }

    /// Begins a call, with `dbus_message_new_method_call`.
    init(
        call destination: BusName,
        _ path: ObjectPath,
        _ interface: InterfaceName?,
        _ member: MemberName,
        border: Border
    ) throws(BusError) {
        pointer = try border.create("dbus_message_new_method_call") {
            dbus_message_new_method_call(
                destination.rawValue,
                path.rawValue,
                interface?.rawValue,
                member.rawValue
            )
        }
        self.border = border
    }

    /// Begins a signal, with `dbus_message_new_signal`.
    init(
        signal interface: InterfaceName,
        _ member: MemberName,
        from path: ObjectPath,
        border: Border
    ) throws(BusError) {
        pointer = try border.create("dbus_message_new_signal") {
            dbus_message_new_signal(path.rawValue, interface.rawValue, member.rawValue)
        }
        self.border = border
    }

    /// Takes the ownership of a message.
    init(taking pointer: OpaquePointer, border: Border) {
        self.pointer = pointer
        self.border = border
    }

    /// Begins a message of any kind, with `dbus_message_new`.
    private init(kind: CInt, border: Border) throws(BusError) {
        pointer = try border.create("dbus_message_new") { dbus_message_new(kind) }
        self.border = border
    }

    /// A method return, or an error if there is a name for one; built from the call's serial and
    /// sender, so that a long call need not keep its message.
    static func reply(
        to address: ReplyAddress,
        error name: ErrorName? = nil,
        border: Border
    ) throws(BusError) -> Message {
        let kind = name == nil ? DBUS_MESSAGE_TYPE_METHOD_RETURN : DBUS_MESSAGE_TYPE_ERROR
        let message = try Message(kind: kind, border: border)
        let pointer = message.pointer
        dbus_message_set_no_reply(pointer, 1)
        try border.check("dbus_message_set_reply_serial") {
            dbus_message_set_reply_serial(pointer, address.serial)
        }
        if let sender = address.sender {
            try border.check("dbus_message_set_destination") {
                dbus_message_set_destination(pointer, sender.rawValue)
            }
        }
        if let name {
            try border.check("dbus_message_set_error_name") {
                dbus_message_set_error_name(pointer, name.rawValue)
            }
        }
        return message
    }

    /// Appends all arguments; may be called once.
    ///
    /// - Throws: `LimitsExceeded` or `InvalidArgs` if the values cannot be sent, `NoMemory`.
    func append(_ arguments: [Value]) throws(BusError) {
        guard !arguments.isEmpty else { return }
        var encoder = Encoder(message: pointer, border: border)
        try encoder.append(arguments)
    }
}

/// Where the reply to a call goes.
struct ReplyAddress: Sendable {
    let serial: UInt32
    let sender: BusName?
}
