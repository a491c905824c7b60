// SPDX-License-Identifier: Apache-2.0

// The basic types, one for one: D-Bus specification, "Basic types".

extension UInt8: BasicBusType {
    /// The type `y`.
    public static var signature: Signature { "y" }

    /// Takes a value of type `y`.
    public init(busValue: Value) throws(DecodingFailure) {
        guard case .byte(let byte) = busValue else {
            throw DecodingFailure(expected: "y", found: busValue)
        }
        self = byte
    }

    /// The value to send.
    public var busValue: Value { .byte(self) }
}

extension Bool: BasicBusType {
    /// The type `b`.
    public static var signature: Signature { "b" }

    /// Takes a value of type `b`.
    public init(busValue: Value) throws(DecodingFailure) {
        guard case .boolean(let boolean) = busValue else {
            throw DecodingFailure(expected: "b", found: busValue)
        }
        self = boolean
    }

    /// The value to send.
    public var busValue: Value { .boolean(self) }
}

extension Int16: BasicBusType {
    /// The type `n`.
    public static var signature: Signature { "n" }

    /// Takes a value of type `n`.
    public init(busValue: Value) throws(DecodingFailure) {
        guard case .int16(let int16) = busValue else {
            throw DecodingFailure(expected: "n", found: busValue)
        }
        self = int16
    }

    /// The value to send.
    public var busValue: Value { .int16(self) }
}

extension UInt16: BasicBusType {
    /// The type `q`.
    public static var signature: Signature { "q" }

    /// Takes a value of type `q`.
    public init(busValue: Value) throws(DecodingFailure) {
        guard case .uint16(let uint16) = busValue else {
            throw DecodingFailure(expected: "q", found: busValue)
        }
        self = uint16
    }

    /// The value to send.
    public var busValue: Value { .uint16(self) }
}

extension Int32: BasicBusType {
    /// The type `i`.
    public static var signature: Signature { "i" }

    /// Takes a value of type `i`.
    public init(busValue: Value) throws(DecodingFailure) {
        guard case .int32(let int32) = busValue else {
            throw DecodingFailure(expected: "i", found: busValue)
        }
        self = int32
    }

    /// The value to send.
    public var busValue: Value { .int32(self) }
}

extension UInt32: BasicBusType {
    /// The type `u`.
    public static var signature: Signature { "u" }

    /// Takes a value of type `u`.
    public init(busValue: Value) throws(DecodingFailure) {
        guard case .uint32(let uint32) = busValue else {
            throw DecodingFailure(expected: "u", found: busValue)
        }
        self = uint32
    }

    /// The value to send.
    public var busValue: Value { .uint32(self) }
}

extension Int64: BasicBusType {
    /// The type `x`.
    public static var signature: Signature { "x" }

    /// Takes a value of type `x`.
    public init(busValue: Value) throws(DecodingFailure) {
        guard case .int64(let int64) = busValue else {
            throw DecodingFailure(expected: "x", found: busValue)
        }
        self = int64
    }

    /// The value to send.
    public var busValue: Value { .int64(self) }
}

extension UInt64: BasicBusType {
    /// The type `t`.
    public static var signature: Signature { "t" }

    /// Takes a value of type `t`.
    public init(busValue: Value) throws(DecodingFailure) {
        guard case .uint64(let uint64) = busValue else {
            throw DecodingFailure(expected: "t", found: busValue)
        }
        self = uint64
    }

    /// The value to send.
    public var busValue: Value { .uint64(self) }
}

extension Double: BasicBusType {
    /// The type `d`.
    public static var signature: Signature { "d" }

    /// Takes a value of type `d`.
    public init(busValue: Value) throws(DecodingFailure) {
        guard case .double(let double) = busValue else {
            throw DecodingFailure(expected: "d", found: busValue)
        }
        self = double
    }

    /// The value to send.
    public var busValue: Value { .double(self) }
}

extension String: BasicBusType {
    /// The type `s`.
    public static var signature: Signature { "s" }

    /// Takes a value of type `s`.
    public init(busValue: Value) throws(DecodingFailure) {
        guard case .string(let string) = busValue else {
            throw DecodingFailure(expected: "s", found: busValue)
        }
        self = string
    }

    /// The value to send.
    public var busValue: Value { .string(self) }
}

extension ObjectPath: BasicBusType {
    /// The type `o`.
    public static var signature: Signature { "o" }

    /// Takes a value of type `o`.
    public init(busValue: Value) throws(DecodingFailure) {
        guard case .objectPath(let objectPath) = busValue else {
            throw DecodingFailure(expected: "o", found: busValue)
        }
        self = objectPath
    }

    /// The value to send.
    public var busValue: Value { .objectPath(self) }
}

extension Signature: BasicBusType {
    /// The type `g`.
    public static var signature: Signature { "g" }

    /// Takes a value of type `g`.
    public init(busValue: Value) throws(DecodingFailure) {
        guard case .signature(let signature) = busValue else {
            throw DecodingFailure(expected: "g", found: busValue)
        }
        self = signature
    }

    /// The value to send.
    public var busValue: Value { .signature(self) }
}
