// SPDX-License-Identifier: Apache-2.0

/// A sequence of complete types, such as `a{sv}u`.
///
/// At most 255 bytes, 32 nested arrays and 32 nested structures; a dictionary entry stands only in
/// an array and has a basic key. D-Bus specification, "Valid Signatures".
public struct Signature: ValidatedName {
    /// The name as it goes over the wire.
    public let rawValue: String

    /// Checks a string against the specification's rules for signatures.
    ///
    /// - Throws: ``InvalidName`` with the rule that the string breaks.
    public init(validating text: String) throws(InvalidName) {
        if let reason = Self.fault(in: text) {
            throw InvalidName(kind: "signature", text: text, reason: reason)
        }
        rawValue = text
    }

    /// Takes what libdbus has already checked in a message that it received.
    init(checked text: String) {
        rawValue = text
    }

    /// A basic type or a variant.
    init(_ code: TypeCode) {
        rawValue = String(UnicodeScalar(code.rawValue))
    }

    /// No types at all.
    public static let empty: Signature = ""

    /// Whether it is exactly one complete type, as a variant holds it.
    public var isSingleCompleteType: Bool {
        var scanner = SignatureScanner(rawValue)
        return scanner.skipType() == nil && scanner.isAtEnd
    }

    /// One signature after the other; the result may break the limits and is checked when encoded.
    static func + (left: Signature, right: Signature) -> Signature {
        Signature(checked: left.rawValue + right.rawValue)
    }

    static func array(of element: Signature) -> Signature {
        Signature(checked: "a" + element.rawValue)
    }

    static func dictionary(_ key: Signature, _ value: Signature) -> Signature {
        Signature(checked: "a{" + key.rawValue + value.rawValue + "}")
    }

    static func structure(_ members: Signature) -> Signature {
        Signature(checked: "(" + members.rawValue + ")")
    }

    private static func fault(in text: String) -> String? {
        guard text.utf8.count <= NameRules.maximumLength else {
            return "longer than \(NameRules.maximumLength) bytes"
        }
        var scanner = SignatureScanner(text)
        while !scanner.isAtEnd {
            if let reason = scanner.skipType() { return reason }
        }
        return nil
    }
}
