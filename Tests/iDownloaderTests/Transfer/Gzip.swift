// SPDX-License-Identifier: Apache-2.0

/// These bytes as a gzip file without compression (RFC 1951 section 3.2.4, RFC 1952).
func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var packed = gzipHeader
    var rest = bytes[...]
    repeat {
        let block = rest.prefix(0xFFFF)
        rest = rest.dropFirst(block.count)
        let length = UInt16(block.count)
        packed.append(rest.isEmpty ? 1 : 0)
        packed += littleEndian(length) + littleEndian(~length) + block
    } while !rest.isEmpty
    return packed + littleEndian(checksum(of: bytes)) + littleEndian(UInt32(bytes.count))
}

/// 72 MiB of zeros as a gzip file of 74 kB.
func gzipOf72MiBOfZeros() -> [UInt8] {
    // What zlib makes of 1 MiB of zeros, flushed so that it stands alone and can be repeated.
    let begin: [UInt8] = [
        0xEC, 0xC1, 0x31, 0x01, 0x00, 0x00, 0x00, 0xC2, 0xA0, 0xF5, 0x4F, 0x6D, 0x08, 0x5F, 0xA0,
    ]
    let end: [UInt8] = [0x3E, 0x03, 0x00, 0x00, 0xFF, 0xFF]
    let block = begin + [UInt8](repeating: 0, count: 1016) + end
    let blocks = (0..<72).flatMap { _ in block }
    let lastBlock: [UInt8] = [0x03, 0x00]
    let checksum: UInt32 = 0x1FA3_226E
    let length: UInt32 = 72 * 1024 * 1024
    return gzipHeader + blocks + lastBlock + littleEndian(checksum) + littleEndian(length)
}

private let gzipHeader: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]

private func littleEndian(_ number: UInt16) -> [UInt8] {
    [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
}

private func littleEndian(_ number: UInt32) -> [UInt8] {
    littleEndian(UInt16(truncatingIfNeeded: number))
        + littleEndian(UInt16(truncatingIfNeeded: number >> 16))
}

/// CRC-32 (RFC 1952 section 8).
private func checksum(of bytes: [UInt8]) -> UInt32 {
    var table = [UInt32](repeating: 0, count: 256)
    for index in table.indices {
        var word = UInt32(index)
        for _ in 0..<8 { word = word & 1 == 1 ? 0xEDB8_8320 ^ (word >> 1) : word >> 1 }
        table[index] = word
    }
    return ~bytes.reduce(~0) { sum, byte in
        table[Int((sum ^ UInt32(byte)) & 0xFF)] ^ (sum >> 8)
    }
}
