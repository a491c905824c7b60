// SPDX-License-Identifier: Apache-2.0

/// The name of an interface, such as `org.freedesktop.DBus.Properties`.
///
/// At least two elements of letters, digits and underscores, none starting with a digit, separated
/// by dots; at most 255 bytes. D-Bus specification, "Interface names".
public struct InterfaceName: ValidatedName {
    /// The name as it goes over the wire.
    public let rawValue: String

    /// Checks a string against the specification's rules for interface names.
    ///
    /// - Throws: ``InvalidName`` with the rule that the string breaks.
    public init(validating text: String) throws(InvalidName) {
        if let reason = Self.fault(in: text) {
            throw InvalidName(kind: "interface name", text: text, reason: reason)
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
