// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// The path of an object, such as `/org/idown/Manager1`.
///
/// `/`, or one or more elements of letters, digits and underscores, each after a slash. The length
/// is not limited. D-Bus specification, "Valid Object Paths".
public typealias ObjectPath = Name<ObjectPaths>

/// The rules of ``ObjectPath``.
public enum ObjectPaths: BasicNameKind {
    /// The kind's name in errors.
    public static let title = "object path"

    /// Whether a string keeps all rules: `dbus_validate_path`.
    public static func isValid(_ text: String) -> Bool { text.isValid(by: dbus_validate_path) }
}

extension Name where Kind == ObjectPaths {
    /// The path `/`.
    public static var root: ObjectPath { "/" }

    /// Returns the path one element deeper.
    ///
    /// - Throws: `InvalidArgs` if the element is empty or contains anything but letters, digits and
    ///   underscores.
    public func appending(_ element: String) throws(BusError) -> ObjectPath {
        guard !element.isEmpty, !element.utf8.contains(UInt8(ascii: "/")) else {
            throw .invalidArguments("\"\(element)\" is not one element of an object path")
        }
        return try ObjectPath(validating: (self == .root ? "" : rawValue) + "/" + element)
    }

    /// The path without its last element; nil for the root.
    public var parent: ObjectPath? {
        guard self != .root, let slash = rawValue.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            return nil
        }
        return slash == rawValue.startIndex
            ? .root : ObjectPath(checked: String(rawValue[..<slash]))
    }

    /// Whether this path is `prefix` or lies below it.
    public func hasPrefix(_ prefix: ObjectPath) -> Bool {
        guard self != prefix, prefix != .root else { return true }
        return rawValue.utf8.starts(with: prefix.rawValue.utf8)
            && rawValue.utf8.dropFirst(prefix.rawValue.utf8.count).first == UInt8(ascii: "/")
    }
}
