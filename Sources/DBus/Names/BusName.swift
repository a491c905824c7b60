// SPDX-License-Identifier: Apache-2.0

/// The name of a connection: unique (`:1.42`) or well-known (`org.idown.Manager1`).
///
/// At least two elements of letters, digits, underscores and dashes, separated by dots; at most 255
/// bytes. Elements of a unique name may start with a digit. D-Bus specification, "Bus names".
public struct BusName: ValidatedName {
    /// The name as it goes over the wire.
    public let rawValue: String

    /// Checks a string against the specification's rules for bus names.
    ///
    /// - Throws: ``InvalidName`` with the rule that the string breaks.
    public init(validating text: String) throws(InvalidName) {
        if let reason = Self.fault(in: text) {
            throw InvalidName(kind: "bus name", text: text, reason: reason)
        }
        rawValue = text
    }

    /// Takes what libdbus has already checked in a message that it received.
    init(checked text: String) {
        rawValue = text
    }

    /// Whether the bus gave this name to one connection for its life.
    public var isUnique: Bool {
        rawValue.utf8.first == UInt8(ascii: ":")
    }

    /// The message bus itself.
    public static let bus: BusName = "org.freedesktop.DBus"

    private static func fault(in text: String) -> String? {
        guard text.utf8.count <= NameRules.maximumLength else {
            return "longer than \(NameRules.maximumLength) bytes"
        }
        let isUnique = text.utf8.first == UInt8(ascii: ":")
        return NameRules.fault(
            inDotted: isUnique ? text.utf8.dropFirst() : text.utf8[...],
            allowsDash: true,
            allowsLeadingDigit: isUnique
        )
    }
}
