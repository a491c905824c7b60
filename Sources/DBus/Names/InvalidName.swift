// SPDX-License-Identifier: Apache-2.0

/// The error for a string that breaks the D-Bus specification's rules for a kind of name.
public struct InvalidName: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of name that was needed, for example `object path`.
    public let kind: String
    /// The invalid string.
    public let text: String
    /// The rule that the string breaks.
    public let reason: String

    /// A sentence with the text, the kind and the reason.
    public var description: String {
        "\"\(text)\" is not a valid \(kind): \(reason)"
    }
}
