// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// A string that follows the rules of the D-Bus specification for one kind of name.
///
/// ``init(validating:)`` checks a string that becomes known when the program runs, and throws. A
/// literal is not checked and never traps: every message is checked as a whole before it is sent,
/// so the first call, signal or export that uses a malformed literal fails with `InvalidArgs`.
public struct Name<Kind: NameKind>: Hashable, Comparable, Sendable, CustomStringConvertible,
    ExpressibleByStringLiteral
{
    /// The name as it is sent.
    public let rawValue: String

    /// Checks a string against the specification's rules.
    ///
    /// - Throws: `InvalidArgs`.
    public init(validating text: String) throws(BusError) {
        rawValue = text
        try check()
    }

    /// Takes a literal without checking it; ``Name`` says what happens with a malformed one.
    public init(stringLiteral literal: StaticString) { rawValue = literal.description }

    /// Takes a text without checking it.
    ///
    /// For a text that libdbus has checked in a received message, or will check when it is sent,
    /// and for texts of the program itself, like literals.
    package init(checked text: String) { rawValue = text }

    /// The name itself.
    public var description: String { rawValue }

    /// Orders names by their bytes.
    public static func < (left: Self, right: Self) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }

    /// Checks the name, which may be a malformed literal.
    ///
    /// - Throws: `InvalidArgs`.
    func check() throws(BusError) {
        guard Kind.isValid(rawValue) else {
            throw .invalidArguments("\"\(rawValue)\" is not a valid \(Kind.title).")
        }
    }
}

/// The rules of one kind of ``Name``, which libdbus knows.
public protocol NameKind: Sendable {
    /// The kind's name in errors, for example `object path`.
    static var title: String { get }

    /// Whether a string keeps all rules.
    static func isValid(_ text: String) -> Bool
}

extension String {
    /// Whether a function of libdbus accepts the whole text, for example `dbus_validate_path`.
    func isValid(
        by judge: (UnsafePointer<CChar>?, UnsafeMutablePointer<DBusError>?) -> dbus_bool_t
    ) -> Bool {
        // The function would read the text up to its first zero byte.
        !utf8.contains(0) && withCString { judge($0, nil) } != 0
    }
}

/// The name of a connection: unique (`:1.42`) or well-known (`org.idown.Manager1`).
///
/// At least two elements of letters, digits, underscores and dashes, separated by dots; at most 255
/// bytes. Elements of a unique name may start with a digit. D-Bus specification, "Bus names".
public typealias BusName = Name<BusNames>

/// The rules of ``BusName``.
public enum BusNames: NameKind {
    /// The kind's name in errors.
    public static let title = "bus name"

    /// Whether a string keeps all rules: `dbus_validate_bus_name`.
    public static func isValid(_ text: String) -> Bool { text.isValid(by: dbus_validate_bus_name) }
}

extension Name where Kind == BusNames {
    /// Whether this is a unique name, which the bus gives to one connection for its lifetime.
    public var isUnique: Bool { rawValue.utf8.first == UInt8(ascii: ":") }

    /// The message bus itself.
    public static var bus: BusName { "org.freedesktop.DBus" }
}

/// The name of an interface, such as `org.freedesktop.DBus.Properties`.
///
/// At least two elements of letters, digits and underscores, none starting with a digit, separated
/// by dots; at most 255 bytes. D-Bus specification, "Interface names".
public typealias InterfaceName = Name<InterfaceNames>

/// The rules of ``InterfaceName``.
public enum InterfaceNames: NameKind {
    /// The kind's name in errors.
    public static let title = "interface name"

    /// Whether a string keeps all rules: `dbus_validate_interface`.
    public static func isValid(_ text: String) -> Bool { text.isValid(by: dbus_validate_interface) }
}

/// The name of an error reply, such as `org.freedesktop.DBus.Error.InvalidArgs`.
///
/// The same rules as an interface name. D-Bus specification, "Error names".
public typealias ErrorName = Name<ErrorNames>

/// The rules of ``ErrorName``.
public enum ErrorNames: NameKind {
    /// The kind's name in errors.
    public static let title = "error name"

    /// Whether a string keeps all rules: `dbus_validate_error_name`.
    public static func isValid(_ text: String) -> Bool {
        text.isValid(by: dbus_validate_error_name)
    }
}

/// The name of a method, a signal or a property, such as `GetAll`.
///
/// Letters, digits and underscores, not starting with a digit, 1 to 255 bytes. D-Bus
/// specification, "Member names".
public typealias MemberName = Name<MemberNames>

/// The rules of ``MemberName``.
public enum MemberNames: NameKind {
    /// The kind's name in errors.
    public static let title = "member name"

    /// Whether a string keeps all rules: `dbus_validate_member`.
    public static func isValid(_ text: String) -> Bool { text.isValid(by: dbus_validate_member) }
}
