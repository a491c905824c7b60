// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting
import iDownloader

@Suite struct DigestStateTests {
    /// RFC 1321 appendix A.5, RFC 3174 section 7.3, FIPS 180-4's examples.
    @Test(
        arguments: [
            ("abc", "md5=900150983cd24fb0d6963f7d28e17f72"),
            ("abc", "sha-1=a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                "abc",
                "sha-256=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
            ),
            (
                "abc",
                "sha-512=ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                    + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
            ),
            ("", "md5=d41d8cd98f00b204e9800998ecf8427e"),
            ("", "sha-1=da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ]
    )
    func `the algorithms give what their standards say`(text: String, expected: String) throws {
        let checksum = try Checksum(parsing: expected)
        #expect(checksum.algorithm.digest(of: Array(text.utf8)) == checksum.bytes)
    }

    @Test(arguments: Checksum.Algorithm.allCases)
    func `bytes may come in any portions`(algorithm: Checksum.Algorithm) {
        let bytes = TestContent(seed: 1, count: 10_000).bytes
        var state = DigestState(algorithm)
        var rest = bytes[...]
        for count in [0, 1, 63, 64, 65, 127, 4096, 10_000] {
            Array(rest.prefix(count)).withUnsafeBytes { state.update($0) }
            rest = rest.dropFirst(count)
        }
        #expect(state.value == algorithm.digest(of: bytes))
    }

    @Test(arguments: Checksum.Algorithm.allCases)
    func `a copy goes on by itself`(algorithm: Checksum.Algorithm) {
        var state = DigestState(algorithm)
        Array("ab".utf8).withUnsafeBytes { state.update($0) }
        var copy = state
        Array("c".utf8).withUnsafeBytes { copy.update($0) }
        #expect(state.value == algorithm.digest(of: Array("ab".utf8)))
        #expect(copy.value == algorithm.digest(of: Array("abc".utf8)))
    }
}

extension Checksum.Algorithm {
    /// What some bytes come to.
    func digest(of bytes: [UInt8]) -> [UInt8] {
        var state = DigestState(self)
        bytes.withUnsafeBytes { state.update($0) }
        return state.value
    }

    /// The checksum of a file of a test.
    func checksum(of content: TestContent) -> Checksum? {
        Checksum(self, digest(of: content.bytes))
    }
}
