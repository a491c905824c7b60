// SPDX-License-Identifier: Apache-2.0

/// A sequence of complete types, such as `a{sv}u`.
///
/// At most 255 bytes, 32 nested arrays and 32 nested structures; a dictionary entry stands only in
/// an array and has a basic key. D-Bus specification, "Valid Signatures".
public typealias Signature = Name<Signatures>

/// The rules of ``Signature``.
public enum Signatures: BasicNameKind {
    /// What an error calls it.
    public static let title = "signature"

    /// Returns the rule that a string breaks; nil if it keeps them all.
    public static func fault(in text: String) -> String? {
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

extension Name where Kind == Signatures {
    /// A basic type or a variant.
    init(_ code: TypeCode) {
        rawValue = String(UnicodeScalar(code.rawValue))
    }

    /// No types at all.
    public static var empty: Signature { "" }

    /// Whether it is exactly one complete type, as a variant holds it.
    public var isSingleCompleteType: Bool {
        var scanner = SignatureScanner(rawValue)
        return scanner.skipType() == nil && scanner.isAtEnd
    }

    /// One signature after the other; the result may break the limits and is checked when encoded.
    static func + (left: Signature, right: Signature) -> Signature {
        // Most often there is one type, and nothing to put together.
        left.rawValue.isEmpty ? right : Signature(checked: left.rawValue + right.rawValue)
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

    /// Where a value of the first of these types may start: at a multiple of so many bytes.
    var alignment: Int {
        rawValue.utf8.first.flatMap(TypeCode.init(rawValue:))?.alignment ?? 1
    }
}
