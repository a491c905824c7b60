// SPDX-License-Identifier: Apache-2.0

extension Array: BusType where Element: BusType {
    /// `a` and the element's signature.
    public static var signature: Signature { .array(of: Element.signature) }

    /// Reads all elements.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        var elements: [Element] = []
        try reader.array(of: Element.signature) { reader throws(DecodingFailure) in
            try reader.reserve(MemoryLayout<Element>.stride)
            elements.append(try Element(from: &reader))
        }
        self = elements
    }

    /// Appends all elements; at most 60 MiB are sent.
    public func write(to writer: inout WireWriter) {
        writer.array(of: Element.signature) { writer in
            for element in self { element.write(to: &writer) }
        }
    }
}

extension Dictionary: BusType where Key: BasicBusType, Value: BusType {
    /// `a{…}` with both signatures.
    public static var signature: Signature { .dictionary(Key.signature, Value.signature) }

    /// Reads all entries; if a key comes twice, its last value counts.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        var entries: [Key: Value] = [:]
        try reader.array(of: "{") { reader throws(DecodingFailure) in
            // A dictionary's storage is at least a quarter empty.
            try reader.reserve(2 * (MemoryLayout<Key>.stride + MemoryLayout<Value>.stride))
            try reader.structure { reader throws(DecodingFailure) in
                let key = try Key(from: &reader)
                entries[key] = try Value(from: &reader)
            }
        }
        self = entries
    }

    /// Appends all entries, in no particular order.
    public func write(to writer: inout WireWriter) {
        writer.array(of: "{") { writer in
            for (key, value) in self { writer.entry(key, value) }
        }
    }
}

/// A variant: any value with its own signature. `[String: Value]` is `a{sv}`.
extension Value: BusType {
    /// The type `v`.
    public static var signature: Signature { "v" }

    /// Reads a variant and returns its content.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        self = try reader.variant()
    }

    /// Appends this value inside a variant.
    public func write(to writer: inout WireWriter) { writer.variant(self) }
}

/// A variant whose content type is known at compile time.
public struct Variant<Content: BusType>: BusType {
    /// The type `v`.
    public static var signature: Signature { "v" }

    /// The content of the variant.
    public let content: Content

    /// Puts a value in a variant.
    public init(_ content: Content) { self.content = content }

    /// Reads a variant; with ``Value`` as content, it may have any type.
    ///
    /// - Throws: ``DecodingFailure`` if the content has another type.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        if Content.self == Value.self, let content = try reader.variant() as? Content {
            self.content = content
            return
        }
        guard let content = try reader.variant(of: Content.self) else {
            throw DecodingFailure("the value is not of type \(Content.signature)")
        }
        self.content = content
    }

    /// Appends the content with its type.
    public func write(to writer: inout WireWriter) {
        if let value = content as? Value {
            writer.variant(value)
        } else {
            writer.variant(of: content)
        }
    }
}

/// A structure of any number of members, such as `(tt)`: `Structure<UInt64, UInt64>`.
///
/// D-Bus has no empty structure: `Structure< >` cannot be sent.
public struct Structure<each Member: BusType>: BusType {
    /// The members, in their order on the wire.
    public var members: (repeat each Member)

    /// Creates a structure from its members.
    public init(_ members: repeat each Member) { self.members = (repeat each members) }

    /// The members' signatures in parentheses.
    public static var signature: Signature {
        var members = Signature.empty
        for type in repeat (each Member).self { members = members + type.signature }
        return .structure(members)
    }

    /// Reads the members one after the other.
    public init(from reader: inout WireReader) throws(DecodingFailure) {
        members = try reader.structure { reader throws(DecodingFailure) in
            (repeat try (each Member)(from: &reader))
        }
    }

    /// Appends the members one after the other.
    public func write(to writer: inout WireWriter) {
        writer.structure { writer in
            for member in repeat each members { member.write(to: &writer) }
        }
    }
}

extension Structure: Equatable where repeat each Member: Equatable {
    /// Whether all members are equal.
    public static func == (left: Self, right: Self) -> Bool {
        for (left, right) in repeat (each left.members, each right.members) {
            guard left == right else { return false }
        }
        return true
    }
}

extension Structure: Hashable where repeat each Member: Hashable {
    /// Hashes all members.
    public func hash(into hasher: inout Hasher) {
        for member in repeat each members { hasher.combine(member) }
    }
}
