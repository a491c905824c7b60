// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The error of a failed call: an error reply of the service or of the bus.
///
/// The ``code`` is for programs. The ``message`` is for people: it says what was wrong and what
/// would be right. The message never contains a header's value, a token, a password or the query of
/// a URL.
public struct ManagerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error's name on the bus, such as `org.idown.Error.NoSuchTask`.
    public let name: ErrorName
    /// The text for people.
    public let message: String

    /// Creates an error of the contract or of the D-Bus specification.
    public init(_ code: Code, _ message: String) {
        name = code.name
        self.message = message
    }

    /// The error's code; nil for a name that this version does not know.
    public var code: Code? { Code(name) }

    /// The text for people, or the name if there is no text.
    public var description: String { message.isEmpty ? name.rawValue : message }
}

extension ManagerError {
    /// The last part of the name, such as `NoSuchTask`.
    package var shortName: String {
        name.rawValue.split(separator: ".").last.map(String.init) ?? name.rawValue
    }

    /// The ErrorCode with which the text of `RequestFailed` begins, such as `Server.NotFound`; nil
    /// for every other error.
    public var failureCode: String? {
        guard code == .requestFailed else { return nil }
        return String(message.prefix { $0 != ":" })
    }

    /// Converts an error reply; unknown names are kept.
    public init(_ error: BusError) {
        name = error.name
        message = error.message
    }

    /// The error reply to send.
    package var busError: BusError { BusError(name, message) }

    /// The errors that the contract names; they are never renamed.
    ///
    /// The raw value is the name on the bus.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The text is not an absolute URL with a host.
        case invalidURL = "org.idown.Error.InvalidURL"
        /// The scheme is not http, https, ftp, ftps or sftp.
        case unsupportedScheme = "org.idown.Error.UnsupportedScheme"
        /// A key is unknown, or a value has the wrong type or is out of range.
        case invalidOption = "org.idown.Error.InvalidOption"
        /// The folder cannot be made, or is not allowed.
        case invalidDestination = "org.idown.Error.InvalidDestination"
        /// The name is taken, and `on-existing` is `fail`.
        case fileExists = "org.idown.Error.FileExists"
        /// No task has this id.
        case noSuchTask = "org.idown.Error.NoSuchTask"
        /// The task's state does not allow the method.
        case invalidState = "org.idown.Error.InvalidState"
        /// The change could not be written to disk.
        case storeFailed = "org.idown.Error.StoreFailed"
        /// The request or the answer is larger than the service allows.
        case limitExceeded = "org.idown.Error.LimitExceeded"
        /// The server answered idown differently than the browser, or not in time: the browser
        /// should continue by itself.
        case disagreed = "org.idown.Error.Disagreed"
        /// The server did not deliver the file; the text begins with the ErrorCode that a task
        /// would have.
        case requestFailed = "org.idown.Error.RequestFailed"
        /// The service is ending. Nothing was changed, and the next call starts it again.
        case stopping = "org.idown.Error.Stopping"

        /// An argument has the wrong type, or a property's value is out of range.
        case invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
        /// The caller is sandboxed and may not do this.
        case accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
        /// There is no such object.
        case unknownObject = "org.freedesktop.DBus.Error.UnknownObject"
        /// There is no such interface.
        case unknownInterface = "org.freedesktop.DBus.Error.UnknownInterface"
        /// There is no such method.
        case unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
        /// There is no such property.
        case unknownProperty = "org.freedesktop.DBus.Error.UnknownProperty"
        /// The property is read-only.
        case propertyReadOnly = "org.freedesktop.DBus.Error.PropertyReadOnly"
        /// Any other error; the text describes it.
        case failed = "org.freedesktop.DBus.Error.Failed"

        /// The service is not running, and the bus cannot start it.
        case serviceUnknown = "org.freedesktop.DBus.Error.ServiceUnknown"
        /// There is no bus.
        case noServer = "org.freedesktop.DBus.Error.NoServer"
        /// No answer arrived in time, or the service ended without one.
        case noReply = "org.freedesktop.DBus.Error.NoReply"
        /// The connection to the bus was lost.
        case disconnected = "org.freedesktop.DBus.Error.Disconnected"
        /// The bus or this library refuses a message of this size.
        case limitsExceeded = "org.freedesktop.DBus.Error.LimitsExceeded"
        /// The answer does not match the contract.
        case inconsistentMessage = "org.freedesktop.DBus.Error.InconsistentMessage"
    }
}

extension ManagerError.Code {
    /// The name on the bus.
    public var name: ErrorName { ErrorName(checked: rawValue) }

    /// The code with a name; nil for a name that this version does not know.
    public init?(_ name: ErrorName) { self.init(rawValue: name.rawValue) }
}

extension ManagerError {
    /// Whether the service could not be reached, so that the outcome of the call is unknown.
    public var isUnreachable: Bool {
        switch code {
        case .serviceUnknown, .noServer, .noReply, .disconnected: true
        case .some: false
        case nil:
            // Either the bus cannot start the service, or there is no bus (dbus-protocol.h).
            name.rawValue.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
                || Self.otherUnreachable.contains(name.rawValue)
        }
    }

    private static let otherUnreachable: Set<String> = [
        "org.freedesktop.DBus.Error.AuthFailed",
        "org.freedesktop.DBus.Error.BadAddress",
        "org.freedesktop.DBus.Error.FileNotFound",
        "org.freedesktop.DBus.Error.IOError",
        "org.freedesktop.DBus.Error.NameHasNoOwner",
        "org.freedesktop.DBus.Error.NoNetwork",
        "org.freedesktop.DBus.Error.NotSupported",
        "org.freedesktop.DBus.Error.TimedOut",
        "org.freedesktop.DBus.Error.Timeout",
    ]

    /// Converts the error of a call; if no service answered, the text says what the user can do.
    init(received error: BusError) {
        let plain = ManagerError(error)
        switch plain.code {
        case .serviceUnknown:
            self.init(
                .serviceUnknown,
                "The download service is not installed. Install the package idown, or start"
                    + " idownd."
            )
        case .noReply:
            self.init(
                .noReply,
                "The download service did not answer. Look at its log with `idown service logs`, or"
                    + " start it anew with `idown service restart`."
            )
        case .disconnected:
            self.init(.disconnected, "The session bus went away. Try again after the next login.")
        case nil where error.name.rawValue.hasPrefix("org.freedesktop.DBus.Error.Spawn."):
            let text = "The download service cannot be started: \(error.message)"
            self.init(BusError(error.name, text + Self.meaning(ofEnd: error.message)))
        case .some, nil:
            self = plain
        }
    }

    /// Explains the service's exit status, because the bus only reports the number.
    private static func meaning(ofEnd text: String) -> String {
        if text.hasSuffix(" exited with status 74") {
            return ". The list of downloads cannot be opened: see `idown doctor`, and"
                + " `idown service logs`."
        }
        if text.hasSuffix(" exited with status 75") {
            return
                ". The service of another session has the list of downloads open: end that session."
        }
        return ""
    }
}
