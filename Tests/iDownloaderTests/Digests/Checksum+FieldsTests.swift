// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting

@testable import iDownloader

@Suite struct ChecksumFieldsTests {
    private func checksum(status: Int = 200, _ lines: [String]) -> Checksum? {
        var fields = FieldList()
        for line in lines { fields.append(line: Array(line.utf8)[...]) }
        return Checksum.strongest(in: fields, status: status)
    }

    /// `{"hello": "world"}` and a line feed, as RFC 9530 has it in its examples.
    private static let body = Array("{\"hello\": \"world\"}\n".utf8)
    private static let sha256 = "RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg="
    private static let sha512 =
        "YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg=="

    @Test func `the RFC's own examples fit its body`() throws {
        for (field, algorithm) in [
            ("Repr-Digest: sha-256=:\(Self.sha256):", Checksum.Algorithm.sha256),
            ("Content-Digest: sha-512=:\(Self.sha512):", .sha512),
        ] {
            let found = try #require(checksum([field]))
            #expect(found == Checksum(algorithm, algorithm.digest(of: Self.body)))
        }
    }

    @Test(arguments: [
        "Repr-Digest: sha-256=:\(sha256):",
        "Content-Digest: sha-256=:\(sha256):",
        "Content-Digest: sha-256=:\(sha256):;x=1, unknown=:AAAA:, sha=:AAAA:",
        "Digest: SHA-256=\(sha256)",
        "digest: sha-256 = \(sha256)",
        "Digest: md5=AAAAAAAAAAAAAAAAAAAAAA==,sha-256=\(sha256),crc32c=AAAAAA==",
        "Digest: sha-512=short, SHA-256=\(sha256)",
    ])
    func `a digest of the whole is read from each field that may give one`(line: String) {
        let expected = Checksum(.sha256, Checksum.Algorithm.sha256.digest(of: Self.body))
        #expect(checksum([line]) == expected)
    }

    @Test func `the old names are known as well`() {
        let md5 = Checksum(.md5, Checksum.Algorithm.md5.digest(of: Array("abc".utf8)))
        #expect(checksum(["Content-MD5: kAFQmDzST7DWlj99KOF/cg=="]) == md5)
        #expect(checksum(["Digest: MD5=kAFQmDzST7DWlj99KOF/cg=="]) == md5)
        let sha1 = Checksum(.sha1, Checksum.Algorithm.sha1.digest(of: Array("abc".utf8)))
        #expect(checksum(["Digest: SHA=qZk+NkcGgWq6PiVxeFDCbJzQ2J0="]) == sha1)
        #expect(checksum(["Repr-Digest: sha=:qZk+NkcGgWq6PiVxeFDCbJzQ2J0=:"]) == sha1)
    }

    @Test func `the strongest counts`() {
        let found = checksum([
            "Content-MD5: kAFQmDzST7DWlj99KOF/cg==", "Digest: SHA-256=\(Self.sha256)",
            "Repr-Digest: sha-512=:\(Self.sha512):",
        ])
        #expect(found?.algorithm == .sha512)
    }

    @Test func `what speaks of the body says nothing of a part's whole`() {
        #expect(checksum(status: 206, ["Content-Digest: sha-256=:\(Self.sha256):"]) == nil)
        #expect(checksum(status: 206, ["Content-MD5: kAFQmDzST7DWlj99KOF/cg=="]) == nil)
        #expect(checksum(status: 206, ["Repr-Digest: sha-256=:\(Self.sha256):"]) != nil)
        #expect(checksum(status: 206, ["Digest: sha-256=\(Self.sha256)"]) != nil)
    }

    @Test(arguments: [
        "Repr-Digest: sha-256=\(sha256)", "Repr-Digest: SHA-256=:\(sha256):",
        "Repr-Digest: sha-256=:AAAA:", "Repr-Digest: sha-512=:\(sha256):", "Repr-Digest:",
        "Repr-Digest: sha-256=:\(sha256):, B", "Digest: sha-256", "Digest: sha-256=:\(sha256):",
        "Digest: UNIXsum=30637", "Content-MD5: AAAA", "Content-MD5: \(sha256)", "Content-MD5: $",
    ])
    func `what cannot be read, or is unknown, is not there`(line: String) {
        #expect(checksum([line]) == nil)
    }

    @Test(arguments: [
        "a;x;y=1, sha-256=:\(sha256):;q=0.5, c=\"a \\\"b\\\", sha-256=:AQ==:\", d=tok/en:*, e=?1",
        "f=-1.25, g=(1 \"a)\" :AA==:;x=y );z, sha-256=:\(sha256): \t,\t *b_1-.*=:AA==:, h=()",
        "sha-256=:AAAA:, sha-256=:\(sha256):", "sha-256=1, sha-256=:\(sha256):",
        "sha-256=:\(sha256.dropLast()):",
    ])
    func `a digest is found among members of all kinds, the last of several`(value: String) {
        let expected = Checksum(.sha256, Checksum.Algorithm.sha256.digest(of: Self.body))
        #expect(checksum(["Repr-Digest: " + value]) == expected)
    }

    @Test func `a dictionary may come in several lines`() {
        let lines = ["a=:AA==:", "sha-256=:\(Self.sha256):", "b"].map { "Repr-Digest: " + $0 }
        #expect(checksum(lines)?.algorithm == .sha256)
    }

    @Test(arguments: [
        "", ":", "=", "1", "::", " b", ":AA==:", ":\(sha256)", ":\(sha256): b", ":\(sha256):=",
        "(:\(sha256):)", "\":\(sha256):", ";x=:\(sha256):", ":\(sha256):,", ":$:",
    ])
    func `a broken member gives no digest`(rest: String) {
        #expect(checksum(["Repr-Digest: sha-256=" + rest]) == nil)
        #expect(checksum(["Repr-Digest: sha-256=:\(Self.sha256):, sha-256=" + rest]) == nil)
    }

    @Test func `two that differ tell nothing`() {
        let lines = ["kAFQmDzST7DWlj99KOF/cg==", "AAAAAAAAAAAAAAAAAAAAAA=="]
        #expect(checksum(lines.map { "Content-MD5: " + $0 }) == nil)
    }

    @Test func `hostile bytes do no harm`() {
        var hostile = HostileBytes(seed: 5)
        for name in ["repr-digest", "digest", "content-digest", "content-md5"] {
            for _ in 0..<5000 {
                var fields = FieldList()
                let value = hostile.bytes("sha-256=:,AQ=;", longest: 60)
                fields.append(line: (Array((name + ": ").utf8) + value)[...])
                _ = Checksum.strongest(in: fields, status: 200)
            }
        }
    }
}
