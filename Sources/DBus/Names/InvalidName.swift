// SPDX-License-Identifier: Apache-2.0

/// A string that the D-Bus specification does not allow as the kind of name asked for.
public struct InvalidName: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the string was to be, for example `object path`.
    public let kind: String
    /// The refused string.
    public let text: String
    /// Which rule it breaks.
    public let reason: String

    /// A sentence with all three.
    public var description: String {
        "\"\(text)\" is not a valid \(kind): \(reason)"
    }
}
