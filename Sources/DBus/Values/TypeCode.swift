// SPDX-License-Identifier: Apache-2.0

/// The type codes of a signature: D-Bus specification, "Summary of types".
enum TypeCode: UInt8 {
    case byte = 0x79  // y
    case boolean = 0x62  // b
    case int16 = 0x6E  // n
    case uint16 = 0x71  // q
    case int32 = 0x69  // i
    case uint32 = 0x75  // u
    case int64 = 0x78  // x
    case uint64 = 0x74  // t
    case double = 0x64  // d
    case string = 0x73  // s
    case objectPath = 0x6F  // o
    case signature = 0x67  // g
    case unixDescriptor = 0x68  // h
    case array = 0x61  // a
    case variant = 0x76  // v
    case structureStart = 0x28  // (
    case structureEnd = 0x29  // )
    case dictionaryStart = 0x7B  // {
    case dictionaryEnd = 0x7D  // }

    /// The alignment of the type's values, in bytes.
    var alignment: Int {
        switch self {
        case .byte, .signature, .variant: 1
        case .int16, .uint16: 2
        case .boolean, .int32, .uint32, .unixDescriptor, .string, .objectPath, .array: 4
        case .int64, .uint64, .double, .structureStart, .dictionaryStart, .structureEnd,
            .dictionaryEnd:
            8
        }
    }
}
