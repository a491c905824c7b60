// SPDX-License-Identifier: Apache-2.0

/// A Swift type with one D-Bus signature, fixed when the program is compiled.
///
/// Handlers and proxies take and return such types; signatures, introspection and the check of
/// arguments follow from them.
public protocol BusType: Sendable {
    /// The one complete type on the wire.
    static var signature: Signature { get }

    /// Takes a value that came over the bus.
    ///
    /// - Throws: ``DecodingFailure`` if the value is of another type or out of range.
    init(busValue: Value) throws(DecodingFailure)

    /// The value to send.
    var busValue: Value { get }
}

/// A type that may be the key of a dictionary: D-Bus specification, "Container types".
public protocol BasicBusType: BusType, Hashable {}

/// Why bytes or a value from the bus are not what was asked for.
public struct DecodingFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was found and what was expected.
    public let description: String

    /// Tells in a sentence what was found and what was expected.
    public init(_ description: String) {
        self.description = description
    }

    init(expected: Signature, found: Value) {
        description = "expected type \(expected), found \(found.signature)"
    }
}
