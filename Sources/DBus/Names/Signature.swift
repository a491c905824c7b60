// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// A sequence of complete types, such as `a{sv}u`.
///
/// At most 255 bytes, 32 nested arrays and 32 nested structures; a dictionary entry may only be the
/// element of an array, and its key must be a basic type. D-Bus specification, "Valid Signatures".
public typealias Signature = Name<Signatures>

/// The rules of ``Signature``.
public enum Signatures: BasicNameKind {
    /// The kind's name in errors.
    public static let title = "signature"

    /// Whether a string keeps all rules: `dbus_signature_validate`.
    public static func isValid(_ text: String) -> Bool { text.isValid(by: dbus_signature_validate) }
}

extension Name where Kind == Signatures {
    /// Creates the signature of a basic type or a variant.
    init(_ code: TypeCode) { rawValue = String(UnicodeScalar(code.rawValue)) }

    /// The signature without types.
    public static var empty: Signature { "" }

    /// Whether this is exactly one complete type, as in a variant.
    public var isSingleCompleteType: Bool {
        rawValue.isValid(by: dbus_signature_validate_single)
    }

    /// Joins two signatures; the result may break the limits, which encoding checks.
    static func + (left: Signature, right: Signature) -> Signature {
        // Usually there is one type, and nothing to join.
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

    /// The alignment of values of the first type, in bytes.
    var alignment: Int { rawValue.utf8.first.flatMap(TypeCode.init(rawValue:))?.alignment ?? 1 }
}
