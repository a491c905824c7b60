// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// A signal of an interface, declared once with the types of its arguments.
///
/// The same value is listed in the interface's table (``Member/signal(_:)``), sends the signal
/// (``Connection/emit(_:at:_:)``) and receives it (``Proxy/signals(_:)``).
///
/// ```swift
/// let overflowed = Signal<Int64, String>(
///     "org.example.Calculator1", "Overflowed", arguments: ["sum", "reason"])
/// ```
public struct Signal<each Content: BusType>: Sendable {
    /// The interface that the signal belongs to.
    public let interface: InterfaceName
    /// The signal's name.
    public let member: MemberName
    let arguments: [Argument]

    /// Declares a signal; sends nothing to the bus.
    ///
    /// - Parameters:
    ///   - interface: The interface that the signal belongs to.
    ///   - member: The signal's name.
    ///   - arguments: The arguments' names, for introspection: only an exported signal needs them,
    ///     one for each type.
    public init(_ interface: InterfaceName, _ member: MemberName, arguments: [String] = []) {
        self.interface = interface
        self.member = member
        self.arguments = Argument.list(arguments, repeat (each Content).self)
    }

    /// Returns the contents of a signal; nil if it is another signal or has other types.
    public func contents(of message: SignalMessage) -> (repeat each Content)? {
        guard message.member == member, message.interface == interface else { return nil }
        return try? message.body.results(of: member, as: repeat (each Content).self)
    }
}

/// A received signal of any kind.
public struct SignalMessage: Sendable {
    /// The sender's unique name, or the bus's own name; nil only without a message bus.
    public let sender: BusName?
    /// The path of the sending object.
    public let path: ObjectPath
    /// The interface of the signal.
    public let interface: InterfaceName
    /// The name of the signal.
    public let member: MemberName
    /// The arguments as they lie in the message.
    let body: WireReader
    /// When the connection received the signal.
    public let received = ContinuousClock.now

    /// The arguments of the signal, decoded anew at each call; empty if they take more memory than
    /// the values of one message may, or bring open files.
    public var arguments: [Value] { (try? body.values()) ?? [] }
}

extension SignalMessage {
    /// Reads a message; nil if a field is missing, which libdbus never lets through.
    ///
    /// - Throws: `NoMemory`.
    init?(_ message: OpaquePointer, libdbus: LibDBusCalls) throws(BusError) {
        guard let path = dbus_message_get_path(message),
            let interface = dbus_message_get_interface(message),
            let member = dbus_message_get_member(message)
        else { return nil }
        self.init(
            sender: dbus_message_get_sender(message).map { BusName(checked: String(cString: $0)) },
            path: ObjectPath(checked: String(cString: path)),
            interface: InterfaceName(checked: String(cString: interface)),
            member: MemberName(checked: String(cString: member)),
            body: try WireReader(bodyOf: message, libdbus: libdbus)
        )
    }
}
