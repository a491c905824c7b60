// SPDX-License-Identifier: Apache-2.0

/// Any value that a message can carry: D-Bus specification, "Type System".
///
/// Containers carry their element types, so that an empty one has a signature. Whether the elements
/// have these types is checked when the value is written.
public enum Value: Hashable, Sendable {
    /// The type `y`.
    case byte(UInt8)
    /// The type `b`.
    case boolean(Bool)
    /// The type `n`.
    case int16(Int16)
    /// The type `q`.
    case uint16(UInt16)
    /// The type `i`.
    case int32(Int32)
    /// The type `u`.
    case uint32(UInt32)
    /// The type `x`.
    case int64(Int64)
    /// The type `t`.
    case uint64(UInt64)
    /// The type `d`.
    case double(Double)
    /// `s`; U+0000 cannot be sent.
    case string(String)
    /// The type `o`.
    case objectPath(ObjectPath)
    /// The type `g`.
    case signature(Signature)
    /// `h`; accepted in replies, and in calls of methods that declare one.
    case descriptor(OpenDescriptor)
    /// `a` and the type of all elements; at most 60 MiB can be sent.
    case array(of: Signature, [Value])
    /// `a{…}`: the types of key and value, and the entries in their order on the wire.
    case dictionary(key: Signature, value: Signature, [Entry])
    /// `(…)`, with at least one member.
    case structure([Value])
    /// `v`: a value together with its signature.
    indirect case variant(Value)

    /// One entry of a dictionary.
    public struct Entry: Hashable, Sendable {
        /// A value of a basic type.
        public var key: Value
        /// A value of any type.
        public var value: Value

        /// Creates an entry.
        public init(key: Value, value: Value) {
            self.key = key
            self.value = value
        }
    }

    /// The type of this value, one complete type.
    public var signature: Signature {
        switch self {
        case .byte: Signature(.byte)
        case .boolean: Signature(.boolean)
        case .int16: Signature(.int16)
        case .uint16: Signature(.uint16)
        case .int32: Signature(.int32)
        case .uint32: Signature(.uint32)
        case .int64: Signature(.int64)
        case .uint64: Signature(.uint64)
        case .double: Signature(.double)
        case .string: Signature(.string)
        case .objectPath: Signature(.objectPath)
        case .signature: Signature(.signature)
        case .descriptor: Signature(.unixDescriptor)
        case .array(let element, _): .array(of: element)
        case .dictionary(let key, let value, _): .dictionary(key, value)
        case .structure(let members): .structure(members.reduce(.empty) { $0 + $1.signature })
        case .variant: Signature(.variant)
        }
    }
}
