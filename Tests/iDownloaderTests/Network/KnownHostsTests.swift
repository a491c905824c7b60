// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

@testable import iDownloader

@Suite struct KnownHostsTests {
    private static func key(_ kind: String) -> String {
        let length = [0, 0, 0, UInt8(kind.utf8.count)]
        return Data(length + Array(kind.utf8) + [0, 0, 0, 4, 1, 2, 3, 4]).base64EncodedString()
    }

    private static func line(_ host: String, _ kind: String) -> String {
        "\(host) \(kind) \(key(kind))"
    }

    private static func readable(_ lines: [String], end: String = "\n") -> [String] {
        let bytes = Array((lines.joined(separator: end) + end).utf8)
        let text = String(decoding: KnownHosts.readable(bytes), as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }

    @Test func `lines with keys of RSA come last, and the others keep their order`() {
        let (rsa, curve) = (Self.line("a", "ssh-rsa"), Self.line("a", "ssh-ed25519"))
        let marked = "@revoked " + Self.line("b", "ecdsa-sha2-nistp256")
        #expect(Self.readable([rsa, curve, marked]) == [curve, marked, rsa])
        #expect(Self.readable([rsa, curve], end: "\r\n") == [curve, rsa])
    }

    @Test func `a line that cannot be read hides no other`() {
        let good = Self.line("|1|c2FsdA==|aGFzaA==", "ssh-ed25519")
        let bad = [
            "", "# a remark", "garbage", "@revoked a", "a ssh-ed25519", "a ssh-ed25519 AAAA",
            "a ssh-ed25519 no key!", "a ssh-rsa \(Self.key("ssh-ed25519"))",
            "a ssh-new \(Self.key("ssh-new"))",
        ]
        for line in bad { #expect(Self.readable([line, good]) == [good], "\(line)") }
        #expect(Self.readable([good + " a comment", good]).count == 2)
        #expect(KnownHosts.readable([]) == [])
    }
}
