// SPDX-License-Identifier: Apache-2.0

/// An error reply, received or to be sent, or an error of libdbus in the same form.
public struct BusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error's name, which programs act on.
    public let name: ErrorName
    /// The text for people.
    public let message: String

    /// Creates an error from a name and a text.
    public init(_ name: ErrorName, _ message: String) {
        self.name = name
        self.message = message
    }

    /// Converts an error that a handler has thrown; a ``BusError`` stays as it is.
    init(thrown error: any Error) {
        switch error {
        case let error as BusError: self = error
        case is CancellationError: self = .failed("The call was cancelled.")
        default: self = .failed(String(describing: error))
        }
    }

    /// The name and the text.
    public var description: String { "\(name): \(message)" }
}

// The error names of the D-Bus specification and of its reference implementation (dbus-protocol.h).
extension BusError {
    private static func standard(_ name: String, _ text: String) -> Self {
        Self(ErrorName(checked: "org.freedesktop.DBus.Error." + name), text)
    }

    /// An error without a name of its own.
    public static func failed(_ text: String) -> Self { standard("Failed", text) }

    /// The arguments have the wrong types or values.
    public static func invalidArguments(_ text: String) -> Self { standard("InvalidArgs", text) }

    /// The interface has no such method.
    public static func unknownMethod(_ text: String) -> Self { standard("UnknownMethod", text) }

    /// There is no object at this path.
    public static func unknownObject(_ text: String) -> Self { standard("UnknownObject", text) }

    /// The object has no such interface.
    public static func unknownInterface(_ text: String) -> Self {
        standard("UnknownInterface", text)
    }

    /// The interface has no such property.
    public static func unknownProperty(_ text: String) -> Self { standard("UnknownProperty", text) }

    /// The property can only be read.
    public static func propertyReadOnly(_ text: String) -> Self {
        standard("PropertyReadOnly", text)
    }

    /// The caller may not do this.
    public static func accessDenied(_ text: String) -> Self { standard("AccessDenied", text) }

    /// No reply came in time, or the call was abandoned.
    public static func noReply(_ text: String) -> Self { standard("NoReply", text) }

    /// The connection to the bus has ended.
    public static func disconnected(_ text: String) -> Self { standard("Disconnected", text) }

    /// A limit of size, depth or number would be exceeded.
    public static func limitsExceeded(_ text: String) -> Self { standard("LimitsExceeded", text) }

    /// A reply or signal does not have the agreed contents.
    public static func inconsistentMessage(_ text: String) -> Self {
        standard("InconsistentMessage", text)
    }

    /// Memory ran out in libdbus.
    public static func noMemory(_ text: String) -> Self { standard("NoMemory", text) }

    /// Whether no reply came in time.
    ///
    /// The call may have been carried out, or may still be.
    public var isNoReply: Bool { name == "org.freedesktop.DBus.Error.NoReply" }

    /// Whether the connection to the bus had ended.
    public var isDisconnected: Bool { name == "org.freedesktop.DBus.Error.Disconnected" }
}
