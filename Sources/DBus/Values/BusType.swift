// SPDX-License-Identifier: Apache-2.0

/// A Swift type with a D-Bus signature that is fixed at compile time.
///
/// Handlers and proxies take and return such types; signatures, introspection and the checks of
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
    /// The type on the wire, one complete type.
    static var signature: Signature { get }

    /// Reads the next value of a message, which is of this type.
    ///
    /// - Throws: ``DecodingFailure`` if the bytes end before the value does, or if this type does
    ///   not accept the value.
    init(from reader: inout WireReader) throws(DecodingFailure)

    /// Appends this value to a message.
    ///
    /// A value that cannot be sent, such as a string with U+0000, is an error when the message is
    /// made.
    func write(to writer: inout WireWriter)
}

/// A type that may be the key of a dictionary: D-Bus specification, "Container types".
public protocol BasicBusType: BusType, Hashable {}

extension BusType {
    /// Creates a value from one whose type is known only when the program runs.
    ///
    /// - Throws: ``DecodingFailure`` if the value is of another type or out of range.
    public init(busValue: Value) throws(DecodingFailure) {
        guard busValue.signature == Self.signature else {
            // A ``Value`` accepts a value of any type.
            if let value = busValue as? Self {
                self = value
                return
            }
            throw DecodingFailure("expected type \(Self.signature), found \(busValue.signature)")
        }
        var writer = WireWriter()
        writer.append(content: busValue)
        if let fault = writer.fault { throw DecodingFailure(fault.message) }
        var reader = WireReader(writer)
        self = try Self(from: &reader)
    }

    /// This value as a ``Value``, which includes its type.
    public var busValue: Value {
        var reader = WireReader(WireWriter(self))
        // Reading what was just written only fails for a descriptor, or a type that breaks its own
        // signature; such values cannot be sent either.
        return (try? reader.value(of: Self.signature)) ?? .structure([])
    }
}

/// The reason why bytes or a value from the bus cannot be decoded.
public struct DecodingFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The values of a message would take too much memory.
    static let tooLarge = DecodingFailure("The message brings more values than are taken at once.")

    /// The text: what was found and what was expected.
    public let description: String

    /// Creates a failure with a sentence that says what was found and what was expected.
    public init(_ description: String) { self.description = description }
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

/// `Int` has no type of its own on the bus, and cannot be sent.
///
/// Without this declaration, a literal such as `3` would be sent as a `Double`, the only type left.
@available(*, unavailable, message: "name the type of the bus: Int32, UInt32, Int64, …")
extension Int: BasicBusType {
    /// Never used.
    public static var signature: Signature { "x" }
}

extension Bool: BasicBusType {
    /// The type `b`.
    public static var signature: Signature { "b" }

    /// Reads a number; 0 is false.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        self = try reader.number() as UInt32 != 0
    }

    /// Appends 0 or 1 in four bytes.
    public func write(to writer: inout WireWriter) { writer.append(number: UInt32(self ? 1 : 0)) }
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
    public init(from reader: inout WireReader) throws(DecodingFailure) { self = try reader.text() }

    /// Appends the text, which must not hold U+0000.
    public func write(to writer: inout WireWriter) { writer.append(text: self) }
}

/// The kinds of ``Name`` that can be values of their own: ``ObjectPath`` and ``Signature``.
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

    /// Appends the descriptor; the receiver gets a copy of its own.
    public func write(to writer: inout WireWriter) { writer.append(descriptor: self) }
}
