// SPDX-License-Identifier: Apache-2.0

/// A string that libdbus may be given, because it has been held against the specification.
///
/// libdbus ends the process when it is handed a malformed name. So only these types reach it,
/// and none of them can be made without its rules being checked: D-Bus specification,
/// "Valid Names" and "Valid Object Paths".
public protocol ValidatedName: Hashable, Comparable, Sendable, CustomStringConvertible,
    ExpressibleByStringLiteral
where StringLiteralType == StaticString {
    /// The name as it goes over the wire.
    var rawValue: String { get }

    /// Checks a string against the specification's rules.
    ///
    /// - Throws: ``InvalidName`` with the rule that the string breaks.
    init(validating text: String) throws(InvalidName)
}

extension ValidatedName {
    /// Takes a literal of the program's own text; a malformed one is a programming error and traps.
    public init(stringLiteral literal: StaticString) {
        do {
            try self.init(validating: literal.description)
        } catch {
            preconditionFailure(error.description)
        }
    }

    /// The name itself.
    public var description: String {
        rawValue
    }

    /// Orders names by their bytes.
    public static func < (left: Self, right: Self) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }
}
