// SPDX-License-Identifier: Apache-2.0

extension Array: BusType where Element: BusType {
    /// `a` and the element's signature.
    public static var signature: Signature { .array(of: Element.signature) }

    /// Takes an array whose elements all decode.
    public init(busValue: Value) throws(DecodingFailure) {
        // Elements tell their types themselves.
        guard case .array(let element, let values) = busValue,
            !values.isEmpty || element == Element.signature
        else {
            throw DecodingFailure(expected: Self.signature, found: busValue)
        }
        self = []
        reserveCapacity(values.count)
        for value in values {
            append(try Element(busValue: value))
        }
    }

    /// The value to send.
    public var busValue: Value {
        .array(of: Element.signature, map { $0.busValue })
    }
}

extension Dictionary: BusType where Key: BasicBusType, Value: BusType {
    /// `a{…}` of both signatures.
    public static var signature: Signature { .dictionary(Key.signature, Value.signature) }

    /// Takes a dictionary; of a key that comes twice the last value counts.
    public init(busValue: DBus.Value) throws(DecodingFailure) {
        guard case .dictionary(let key, let value, let entries) = busValue,
            !entries.isEmpty || (key == Key.signature && value == Value.signature)
        else {
            throw DecodingFailure(expected: Self.signature, found: busValue)
        }
        self = [:]
        reserveCapacity(entries.count)
        for entry in entries {
            self[try Key(busValue: entry.key)] = try Value(busValue: entry.value)
        }
    }

    /// The value to send, in no particular order.
    public var busValue: DBus.Value {
        .dictionary(
            key: Key.signature,
            value: Value.signature,
            map { DBus.Value.Entry(key: $0.key.busValue, value: $0.value.busValue) }
        )
    }
}

/// A variant: any value, with its own signature beside it. `[String: Value]` is `a{sv}`.
extension Value: BusType {
    /// The type `v`.
    public static var signature: Signature { "v" }

    /// Takes the content of a variant.
    public init(busValue: Value) throws(DecodingFailure) {
        guard case .variant(let content) = busValue else {
            throw DecodingFailure(expected: "v", found: busValue)
        }
        self = content
    }

    /// This value inside a variant.
    public var busValue: Value { .variant(self) }
}

/// A structure of two members, such as `(tt)`.
public struct Pair<First: BusType, Second: BusType>: BusType {
    /// The first member.
    public var first: First
    /// The second member.
    public var second: Second

    /// Puts two members together.
    public init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    /// Both signatures in brackets.
    public static var signature: Signature { .structure(First.signature + Second.signature) }

    /// Takes a structure of exactly these two members.
    public init(busValue: Value) throws(DecodingFailure) {
        guard case .structure(let members) = busValue, members.count == 2 else {
            throw DecodingFailure(expected: Self.signature, found: busValue)
        }
        first = try First(busValue: members[0])
        second = try Second(busValue: members[1])
    }

    /// The value to send.
    public var busValue: Value { .structure([first.busValue, second.busValue]) }
}

extension Pair: Equatable where First: Equatable, Second: Equatable {}
extension Pair: Hashable where First: Hashable, Second: Hashable {}
