// SPDX-License-Identifier: Apache-2.0

/// Stores small numbers in few bytes: unsigned LEB128, seven bits per byte, the lowest first.
enum VariableLengthInteger {
    /// Appends a number, 0 or more.
    static func append(_ number: Int64, to bytes: inout [UInt8]) {
        var rest = UInt64(bitPattern: number)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Removes a number from the front; nil if there is none, or it is not below 2⁶³.
    static func removeFirst(from bytes: inout ArraySlice<UInt8>) -> Int64? {
        var number: Int64 = 0
        var shift: Int64 = 0
        while let byte = bytes.popFirst(), shift < 63 {
            number |= Int64(byte & 0x7f) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        return nil
    }
}
