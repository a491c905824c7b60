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
    /// An error without a name of its own.
    public static func failed(_ message: String) -> BusError {
        BusError("org.freedesktop.DBus.Error.Failed", message)
    }

    /// The arguments have the wrong types or values.
    public static func invalidArguments(_ message: String) -> BusError {
        BusError("org.freedesktop.DBus.Error.InvalidArgs", message)
    }

    /// The interface has no such method.
    public static func unknownMethod(_ message: String) -> BusError {
        BusError("org.freedesktop.DBus.Error.UnknownMethod", message)
    }

    /// There is no object at this path.
    public static func unknownObject(_ message: String) -> BusError {
        BusError("org.freedesktop.DBus.Error.UnknownObject", message)
    }

    /// The object has no such interface.
    public static func unknownInterface(_ message: String) -> BusError {
        BusError("org.freedesktop.DBus.Error.UnknownInterface", message)
    }

    /// The interface has no such property.
    public static func unknownProperty(_ message: String) -> BusError {
        BusError("org.freedesktop.DBus.Error.UnknownProperty", message)
    }

    /// The property can only be read.
    public static func propertyReadOnly(_ message: String) -> BusError {
        BusError("org.freedesktop.DBus.Error.PropertyReadOnly", message)
    }

    /// The caller may not do this.
    public static func accessDenied(_ message: String) -> BusError {
        BusError("org.freedesktop.DBus.Error.AccessDenied", message)
    }

    /// No reply came in time, or the call was abandoned.
    public static func noReply(_ message: String) -> BusError {
        BusError("org.freedesktop.DBus.Error.NoReply", message)
    }

    /// The connection to the bus has ended.
    public static func disconnected(_ message: String) -> BusError {
        BusError("org.freedesktop.DBus.Error.Disconnected", message)
    }

    /// A limit of size, depth or number would be exceeded.
    public static func limitsExceeded(_ message: String) -> BusError {
        BusError("org.freedesktop.DBus.Error.LimitsExceeded", message)
    }

    /// A reply or signal does not have the agreed contents.
    public static func inconsistentMessage(_ message: String) -> BusError {
        BusError("org.freedesktop.DBus.Error.InconsistentMessage", message)
    }

    /// Memory ran out in libdbus.
    public static func noMemory(_ message: String) -> BusError {
        BusError("org.freedesktop.DBus.Error.NoMemory", message)
    }

    /// Whether no reply came in time.
    ///
    /// The call may have been carried out, or may still be.
    public var isNoReply: Bool { name == "org.freedesktop.DBus.Error.NoReply" }

    /// Whether the connection to the bus had ended.
    public var isDisconnected: Bool { name == "org.freedesktop.DBus.Error.Disconnected" }
}
