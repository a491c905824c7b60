// SPDX-License-Identifier: Apache-2.0

public import DBus

/// Why a call failed: an error reply of the service or of the bus, as data.
///
/// The text says what was wrong and what would be right. It holds no header's value, token,
/// password or query.
public struct ManagerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name on the wire; programs decide by it, or by ``code``.
    public let name: ErrorName
    /// A sentence for people.
    public let message: String

    /// An error of the contract, or one of the specification's.
    public init(_ code: Code, _ message: String) {
        name = code.name
        self.message = message
    }

    /// What the name means; nil for a name that this version does not know.
    public var code: Code? {
        Code(name)
    }

    /// The sentence for people.
    public var description: String {
        message.isEmpty ? name.rawValue : message
    }
}

extension ManagerError {
    /// Takes an error reply; a name that is not known is kept.
    public init(_ error: BusError) {
        name = error.name
        message = error.message
    }

    /// The error reply to send.
    public var busError: BusError {
        BusError(name, message)
    }
}

extension ManagerError {
    /// The names that the contract knows.
    ///
    /// They are never renamed.
    public enum Code: Hashable, Sendable, CaseIterable {
        /// Not an absolute URL with a host, or too long.
        case invalidURL
        /// A scheme that is not downloaded.
        case unsupportedScheme
        /// An unknown key, or a value of a wrong type or out of its range.
        case invalidOption
        /// A folder that cannot be made or is not allowed.
        case invalidDestination
        /// The name is taken and `on-existing` is `fail`.
        case fileExists
        /// No task has this id.
        case noSuchTask
        /// The verb makes no sense in the task's state.
        case invalidState
        /// The change could not be made durable.
        case storeFailed
        /// More than the service takes or sends at once.
        case limitExceeded
        /// The service is about to end.
        case stopping

        /// Arguments of wrong types, or a property's value out of its range.
        case invalidArguments
        /// The caller may not do this.
        case accessDenied
        /// No such object.
        case unknownObject
        /// No such interface.
        case unknownInterface
        /// No such method.
        case unknownMethod
        /// No such property.
        case unknownProperty
        /// The property can only be read.
        case propertyReadOnly
        /// Something that has no name of its own.
        case failed

        /// Nobody owns the service's name and the bus knows no way to start it.
        case serviceUnknown
        /// There is no bus to connect to.
        case noServer
        /// No answer came in time, or the service ended before it.
        case noReply
        /// The connection to the bus has ended.
        case disconnected
        /// The bus or this side refuses the size.
        case limitsExceeded
        /// An answer holds something other than the contract says.
        case inconsistentMessage
    }
}

extension ManagerError.Code {
    /// The name on the wire.
    public var name: ErrorName {
        switch self {
        case .invalidURL: "org.idown.Error.InvalidURL"
        case .unsupportedScheme: "org.idown.Error.UnsupportedScheme"
        case .invalidOption: "org.idown.Error.InvalidOption"
        case .invalidDestination: "org.idown.Error.InvalidDestination"
        case .fileExists: "org.idown.Error.FileExists"
        case .noSuchTask: "org.idown.Error.NoSuchTask"
        case .invalidState: "org.idown.Error.InvalidState"
        case .storeFailed: "org.idown.Error.StoreFailed"
        case .limitExceeded: "org.idown.Error.LimitExceeded"
        case .stopping: "org.idown.Error.Stopping"
        case .invalidArguments: "org.freedesktop.DBus.Error.InvalidArgs"
        case .accessDenied: "org.freedesktop.DBus.Error.AccessDenied"
        case .unknownObject: "org.freedesktop.DBus.Error.UnknownObject"
        case .unknownInterface: "org.freedesktop.DBus.Error.UnknownInterface"
        case .unknownMethod: "org.freedesktop.DBus.Error.UnknownMethod"
        case .unknownProperty: "org.freedesktop.DBus.Error.UnknownProperty"
        case .propertyReadOnly: "org.freedesktop.DBus.Error.PropertyReadOnly"
        case .failed: "org.freedesktop.DBus.Error.Failed"
        case .serviceUnknown: "org.freedesktop.DBus.Error.ServiceUnknown"
        case .noServer: "org.freedesktop.DBus.Error.NoServer"
        case .noReply: "org.freedesktop.DBus.Error.NoReply"
        case .disconnected: "org.freedesktop.DBus.Error.Disconnected"
        case .limitsExceeded: "org.freedesktop.DBus.Error.LimitsExceeded"
        case .inconsistentMessage: "org.freedesktop.DBus.Error.InconsistentMessage"
        }
    }

    /// The code with this name; nil for a name that this version does not know.
    public init?(_ name: ErrorName) {
        guard let code = Self.codes[name] else { return nil }
        self = code
    }

    private static let codes = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })
}
