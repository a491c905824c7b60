// SPDX-License-Identifier: Apache-2.0

/// The name of a method, a signal or a property, such as `GetAll`.
///
/// Letters, digits and underscores, not starting with a digit, 1 to 255 bytes. D-Bus
/// specification, "Member names".
public struct MemberName: ValidatedName {
    /// The name as it goes over the wire.
    public let rawValue: String

    /// Checks a string against the specification's rules for member names.
    ///
    /// - Throws: ``InvalidName`` with the rule that the string breaks.
    public init(validating text: String) throws(InvalidName) {
        if let reason = Self.fault(in: text) {
            throw InvalidName(kind: "member name", text: text, reason: reason)
        }
        rawValue = text
    }

    /// Takes what libdbus has already checked in a message that it received.
    init(checked text: String) {
        rawValue = text
    }

    private static func fault(in text: String) -> String? {
        guard let first = text.utf8.first else { return "empty" }
        guard text.utf8.count <= NameRules.maximumLength else {
            return "longer than \(NameRules.maximumLength) bytes"
        }
        guard !NameRules.isDigit(first) else { return "it starts with a digit" }
        guard text.utf8.allSatisfy(NameRules.isWordCharacter) else {
            return "a character that is not allowed"
        }
        return nil
    }
}
