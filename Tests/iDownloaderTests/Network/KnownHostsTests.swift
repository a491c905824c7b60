// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

@testable import iDownloader

// ssh-keygen -H has made these of `a` and `[a]:2222`.
private let hashed = "|1|w4c+TyoFnLWZvcnkzEtSUQhzfg0=|UYKwyt1h+eW6F8gCn3ok+4eLaN8="
private let hashedWithPort = "|1|SSga95tVLNkpsvqV+rvz5HPmAMs=|Gv8ykASaSSXnwjwlSL6Re2qN+OI="

@Suite struct KnownHostsTests {
    private static let (curve, nist) = ("ssh-ed25519", "ecdsa-sha2-nistp256")

    private static func key(_ kind: String, _ number: UInt8 = 4) -> String {
        let length = [0, 0, 0, UInt8(kind.utf8.count)]
        return Data(length + Array(kind.utf8) + [0, 0, 0, 4, 1, 2, 3, number])
            .base64EncodedString()
    }

    private static func line(_ hosts: String, _ kind: String, _ number: UInt8 = 4) -> String {
        "\(hosts) \(kind) \(key(kind, number))"
    }

    private static func lists(
        of host: String = "a",
        port: Int = 22,
        in lines: [String],
        end: String = "\n"
    ) -> [[String]] {
        let bytes = Array((lines.joined(separator: end) + end).utf8)
        return KnownHosts.lists(of: host, port: port, in: bytes).known.map { list in
            String(decoding: list, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    @Test func `each kind of a host's keys has a list, in the order of OpenSSH`() {
        let kinds = ["ssh-rsa", Self.nist, "ssh-dss", Self.curve]
        let lines = kinds.map { Self.line("a", $0) }
        let (rsa, nist, dss, curve) = (lines[0], lines[1], lines[2], lines[3])
        let lists = [[curve], [nist], [rsa], [dss], []]
        #expect(Self.lists(in: lines) == lists)
        #expect(Self.lists(in: lines, end: "\r\n") == lists)
        let second = Self.line("a", Self.curve, 5)
        #expect(Self.lists(in: [curve, second]) == [[curve, second], []])
    }

    @Test(arguments: [
        ("a", 22, ["a"], true), ("a", 22, ["b,A,c"], true), ("a", 22, ["b", "aa"], false),
        ("a", 22, ["[a]:2222"], false), ("a", 2222, ["[a]:2222"], true), ("a", 2222, ["a"], true),
        ("a", 2222, ["[a]:22"], false), ("::1", 22, ["::1"], true),
        ("::1", 2222, ["[::1]:2222"], true),
        ("a", 22, [hashed], true), ("b", 22, [hashed], false),
        ("a", 2222, [hashedWithPort], true), ("a", 23, [hashedWithPort], false),
        ("a", 22, ["|1|c2FsdA==|aGFzaA==", "|1|x", "|2|c2FsdA==|aGFzaA=="], false),
    ])
    func `a line is of a host by name and port, hashed or not`(
        host: String,
        port: Int,
        hosts: [String],
        isKnown: Bool
    ) {
        let lines = hosts.map { Self.line($0, Self.curve) }
        let name = port == 22 ? host : "[\(host)]:\(port)"
        let known = isKnown ? [[Self.line(name, Self.curve)], []] : [[]]
        #expect(Self.lists(of: host, port: port, in: lines) == known)
    }

    @Test func `a key of the host counts only where none is known for the port`() {
        let (host, port) = (Self.line("a", Self.nist), Self.line("[a]:2222", Self.curve))
        #expect(Self.lists(port: 2222, in: [host, port]) == [[port], []])
    }

    @Test func `revoked keys are those of any host, and in no list; nor are keys of authorities`() {
        let curve = Self.line("a", Self.curve)
        let lines = [
            "@revoked " + Self.line("*", Self.nist), curve, "@cert-authority " + curve,
            "@revoked " + Self.line("[b]:2222", Self.curve, 5),
        ]
        #expect(Self.lists(in: lines) == [[curve], []])
        #expect(Self.lists(of: "b", in: lines) == [[]])
        let bytes = Array(lines.joined(separator: "\n").utf8)
        let revoked = KnownHosts.lists(of: "a", port: 22, in: bytes).revoked
        #expect(revoked == [Self.key(Self.nist), Self.key(Self.curve, 5)])
    }

    @Test func `a line that cannot be read hides no other`() {
        let good = Self.line("a", Self.curve)
        let bad = [
            "", "# a remark", "garbage", "@revoked", "@revoked a", "a ssh-ed25519",
            "a ssh-ed25519 AAAA", "a ssh-ed25519 no key!", "a ssh-rsa \(Self.key(Self.curve))",
            "a ssh-new \(Self.key("ssh-new"))",
        ]
        for line in bad { #expect(Self.lists(in: [line, good]) == [[good], []], "\(line)") }
        #expect(Self.lists(in: [good + " a remark"]) == [[good], []])
        #expect(Self.lists(in: []) == [[]])
    }
}
