// SPDX-License-Identifier: Apache-2.0

/// The name of an error reply, such as `org.freedesktop.DBus.Error.InvalidArgs`.
///
/// The same rules as an interface name. D-Bus specification, "Error names".
public struct ErrorName: ValidatedName {
    /// The name as it goes over the wire.
    public let rawValue: String

    /// Checks a string against the specification's rules for error names.
    ///
    /// - Throws: ``InvalidName`` with the rule that the string breaks.
    public init(validating text: String) throws(InvalidName) {
        if let reason = Self.fault(in: text) {
            throw InvalidName(kind: "error name", text: text, reason: reason)
        }
        rawValue = text
    }

    /// Takes what libdbus has already checked in a message that it received.
    init(checked text: String) {
        rawValue = text
    }

    private static func fault(in text: String) -> String? {
        NameRules.fault(inInterface: text)
    }
}
