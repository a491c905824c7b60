// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct ChecksumTests {
    @Test(arguments: [
        ("md5", 32), ("sha-1", 40), ("sha-256", 64), ("sha-512", 128), ("SHA-256", 64),
    ])
    func `every algorithm is read and written, in small letters`(_ name: String, _ count: Int)
        throws
    {
        let digits = String(repeating: "0aF9", count: count / 4)
        let checksum = try Checksum(parsing: name + "=" + digits)
        #expect(checksum.algorithm.rawValue == name.lowercased())
        #expect(checksum.bytes.count == count / 2)
        #expect(checksum.bytes.prefix(2) == [0x0a, 0xf9])
        #expect("\(checksum)" == (name + "=" + digits).lowercased())
        #expect(try Checksum(parsing: "\(checksum)") == checksum)
    }

    @Test(arguments: [
        "", "=", "sha-256", "sha256=00", "crc32=00000000", "=00", " md5=00", "md5\u{301}=00",
    ])
    func `an algorithm that is not known is told`(_ text: String) {
        #expect(throws: ChecksumFault.unknownAlgorithm) { try Checksum(parsing: text) }
    }

    @Test(arguments: [
        "", "0", "00", String(repeating: "0", count: 31), String(repeating: "0", count: 33),
        String(repeating: "0", count: 31) + "g", String(repeating: " ", count: 32),
        String(repeating: "０", count: 32), "=" + String(repeating: "0", count: 31),
    ])
    func `a digest of another length, or of other letters, is told`(_ digits: String) {
        #expect(throws: ChecksumFault.notHexadecimal(.md5)) {
            try Checksum(parsing: "md5=" + digits)
        }
    }

    @Test func `bytes that are no digest of the algorithm make none`() {
        #expect(Checksum(.sha1, Array(repeating: 0, count: 16)) == nil)
        #expect(Checksum(.sha1, Array(repeating: 0, count: 20)) != nil)
    }
}
