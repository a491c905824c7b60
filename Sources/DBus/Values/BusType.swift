// SPDX-License-Identifier: Apache-2.0

/// A Swift type with one D-Bus signature, fixed when the program is compiled.
///
/// Handlers and proxies take and return such types; signatures, introspection and the check of
/// arguments follow from them. A type of your own writes and reads its parts one after the other:
///
/// ```swift
/// struct Point: BusType {
///     var x: Int32, y: Int32
///     static var signature: Signature { "(ii)" }
///     init(from reader: inout WireReader) throws(DecodingFailure) {
///         (x, y) = try Structure<Int32, Int32>(from: &reader).members
///     }
///     func write(to writer: inout WireWriter) { Structure(x, y).write(to: &writer) }
/// }
/// ```
public protocol BusType: Sendable {
    /// The one complete type on the wire.
    static var signature: Signature { get }

    /// Reads the next value of a message, which is of this type.
    ///
    /// - Throws: ``DecodingFailure`` if the bytes end before the value does, or if the value is not
    ///   one that this type takes.
    init(from reader: inout WireReader) throws(DecodingFailure)

    /// Appends this value to a message.
    ///
    /// What cannot be sent, such as a string with U+0000, is thrown when the message is made.
    func write(to writer: inout WireWriter)
}

/// A type that may be the key of a dictionary: D-Bus specification, "Container types".
public protocol BasicBusType: BusType, Hashable {}

extension BusType {
    /// Takes a value whose type became known when the program ran.
    ///
    /// - Throws: ``DecodingFailure`` if the value is of another type or out of range.
    public init(busValue: Value) throws(DecodingFailure) {
        guard busValue.signature == Self.signature else {
            // As a value of any type it is what it is.
            if let value = busValue as? Self {
                self = value
                return
            }
            throw DecodingFailure(
                "expected type \(Self.signature), found \(busValue.signature)"
            )
        }
        var writer = WireWriter()
        writer.append(content: busValue)
        if let fault = writer.fault { throw DecodingFailure(fault.message) }
        var reader = WireReader(writer)
        self = try Self(from: &reader)
    }

    /// This value with its type beside it.
    public var busValue: Value {
        var reader = WireReader(WireWriter(self))
        // What was just written can be read, but for a descriptor or a type that breaks its own
        // signature; such a value cannot be sent either.
        return (try? reader.value(of: Self.signature)) ?? .structure([])
    }
}

/// Why bytes or a value from the bus are not what was asked for.
public struct DecodingFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was found and what was expected.
    public let description: String

    /// Tells in a sentence what was found and what was expected.
    public init(_ description: String) {
        self.description = description
    }
}

// MARK: The basic types: D-Bus specification, "Basic types"

extension BasicBusType where Self: FixedWidthInteger {
    /// Reads a number.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        self = try reader.number()
    }

    /// Appends the number, aligned to its own size.
    public func write(to writer: inout WireWriter) { writer.append(number: self) }
}

extension UInt8: BasicBusType {
    /// The type `y`.
    public static var signature: Signature { "y" }
}

extension Int16: BasicBusType {
    /// The type `n`.
    public static var signature: Signature { "n" }
}

extension UInt16: BasicBusType {
    /// The type `q`.
    public static var signature: Signature { "q" }
}

extension Int32: BasicBusType {
    /// The type `i`.
    public static var signature: Signature { "i" }
}

extension UInt32: BasicBusType {
    /// The type `u`.
    public static var signature: Signature { "u" }
}

extension Int64: BasicBusType {
    /// The type `x`.
    public static var signature: Signature { "x" }
}

extension UInt64: BasicBusType {
    /// The type `t`.
    public static var signature: Signature { "t" }
}

/// `Int` has no type of its own on the bus: without this a literal such as `3` would be sent as the
/// only type that is left, a `Double`.
@available(*, unavailable, message: "name the type of the bus: Int32, UInt32, Int64, …")
extension Int: BasicBusType {
    /// None.
    public static var signature: Signature { "x" }
}

extension Bool: BasicBusType {
    /// The type `b`.
    public static var signature: Signature { "b" }

    /// Reads a number, of which 0 is false.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        self = try reader.number() as UInt32 != 0
    }

    /// Appends 0 or 1 in four bytes.
    public func write(to writer: inout WireWriter) {
        writer.append(number: UInt32(self ? 1 : 0))
    }
}

extension Double: BasicBusType {
    /// The type `d`.
    public static var signature: Signature { "d" }

    /// Reads the eight bytes of IEEE 754.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        self.init(bitPattern: try reader.number())
    }

    /// Appends the eight bytes of IEEE 754.
    public func write(to writer: inout WireWriter) { writer.append(number: bitPattern) }
}

extension String: BasicBusType {
    /// The type `s`.
    public static var signature: Signature { "s" }

    /// Reads a text.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        self = try reader.text()
    }

    /// Appends the text, which must not hold U+0000.
    public func write(to writer: inout WireWriter) { writer.append(text: self) }
}

/// The kinds of ``Name`` that are types of values: ``ObjectPath`` and ``Signature``.
public protocol BasicNameKind: NameKind {}

extension Name: BusType, BasicBusType where Kind: BasicNameKind {
    /// The type `o` or `g`.
    public static var signature: Signature { Kind.self == Signatures.self ? "g" : "o" }

    /// Reads a path or a signature, which libdbus has checked.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        let isSignature = Kind.self == Signatures.self
        self.init(checked: isSignature ? try reader.shortText() : try reader.text())
    }

    /// Appends the path or the signature.
    public func write(to writer: inout WireWriter) {
        if Kind.self == Signatures.self {
            writer.append(shortText: rawValue)
        } else {
            writer.append(text: rawValue)
        }
    }
}

extension OpenDescriptor: BasicBusType {
    /// The type `h`.
    public static var signature: Signature { "h" }

    /// Appends the descriptor; what receives it has a copy of its own.
    public func write(to writer: inout WireWriter) { writer.append(descriptor: self) }
}
