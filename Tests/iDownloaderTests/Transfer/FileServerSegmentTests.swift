// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

/// Gaps and mirrors, by FTP and SFTP from real servers.
@Suite(.timeLimit(.minutes(3))) struct FileServerSegmentTests {
    private static let content = TestContent(TestContent(seed: 45, count: 8 << 20).bytes)
    private static let checksum = Checksum.Algorithm.sha256.checksum(of: content)

    private func withRoot(_ body: (String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            chmod(folder, 0o755)
            let root = folder + "/root"
            mkdir(root, 0o755)
            try Self.content.write(toFile: root + "/file.bin")
            let time = timeval(tv_sec: 1_700_000_000, tv_usec: 0)
            #expect(utimes(root + "/file.bin", [time, time]) == 0)
            try await body(root)
        }
    }

    /// Stops an attempt in mid-file, takes a stretch of what it has brought away from the record, as a
    /// download by several connections may have left it, and runs another attempt.
    private func interrupt(
        _ url: String,
        network: NetworkConfiguration = NetworkConfiguration(),
        then letGo: () -> Void
    ) async throws {
        try await withSite(network: network, checkpointInterval: .milliseconds(50)) { site in
            let journal = try site.task(url) { $0.connections = 3 }
            let transfer = try site.start(journal)
            await journal.waitUntil { $0.segments.prefixLength >= 768 << 10 }
            #expect(transfer.live.connections == 1)
            transfer.stop()
            await transfer.ended()
            expectTrueClaims(Self.content, site, journal)
            var kept = journal.record.segments
            try kept.remove(#require(ByteRange(from: 256 << 10, to: 512 << 10)))
            journal.apply(.transfer(.checkpointed(kept), of: journal.record.attempt))
            letGo()
            try journal.apply(.pause)
            try await site.run(journal)
            expectComplete(Self.content, site, journal)
            #expect(journal.record.integrity == .length)
        }
    }

    @Test func `FTP brings a file by one connection, and goes on in its gaps`() async throws {
        try await withRoot { root in
            try await withFTPServer(root: root, holdAfter: 1 << 20) { server in
                try await interrupt(server.url("/file.bin"), then: server.letGo)
                #expect(server.commands.contains { $0.hasPrefix("REST ") })
            }
        }
    }

    @Test func `a file that is replaced while its gaps are asked for is not mixed`() async throws {
        let next = TestContent(seed: 46, count: Self.content.count)
        try await withRoot { root in
            try next.write(toFile: root + ".next")
            try await withFTPServer(root: root, holdAfter: 1 << 20, oddity: .replacesLate) {
                server in
                try await withSite(checkpointInterval: .milliseconds(50)) { site in
                    let journal = try site.task(server.url("/file.bin"))
                    let transfer = try site.start(journal)
                    await journal.waitUntil { $0.segments.prefixLength >= 768 << 10 }
                    transfer.stop()
                    await transfer.ended()
                    server.letGo()
                    try journal.apply(.pause)
                    try await site.run(journal)
                    expectComplete(next, site, journal)
                }
            }
        }
    }

    @Test func `a file that is longer than its FTP server says comes as a whole`() async throws {
        try await withRoot { root in
            try await withFTPServer(root: root, oddity: .understatesSize) { server in
                try await withSite { site in
                    let journal = try await site.download(server.url("/file.bin"))
                    expectComplete(Self.content, site, journal)
                    #expect(journal.record.integrity == Integrity.none)
                }
            }
        }
    }

    @Test func `SFTP brings a file by one connection, and goes on in its gaps`() async throws {
        try await withRoot { root in
            let folder = root + ".ssh"
            mkdir(folder, 0o700)
            try await withSSHServer(in: folder) { server in
                let relayed = Relay.Kind.port(server.port)
                try await withRelay(relayed, in: folder, holdAfter: 1 << 20) { relay in
                    let known = folder + "/known_hosts"
                    try TestFile.write(try server.knownHost(at: relay.port), to: known)
                    var network = NetworkConfiguration()
                    network.knownHostsFile = known
                    network.sshKeys = [server.key]
                    let url = server.url(root + "/file.bin", port: relay.port)
                    try await interrupt(url, network: network, then: relay.letGo)
                }
            }
        }
    }

    @Test func `an FTP mirror serves where the server does not`() async throws {
        try await withRoot { root in
            try await withFTPServer(root: root) { mirror in
                try await withServer({ _ in [.head("404 Not Found"), .close] }) { home in
                    try await withSite { site in
                        let journal = try await site.download(home.url("/file.bin")) {
                            $0.mirrors = [mirror.url("/file.bin")]
                            $0.headers = [.init(name: "X-Key", value: "secret")]
                        }
                        expectComplete(Self.content, site, journal)
                        #expect(!mirror.commands.contains { $0.contains("secret") })
                    }
                }
            }
        }
    }

    @Test func `with a digest an FTP mirror goes on where the server broke off`() async throws {
        try await withRoot { root in
            try await withFTPServer(root: root) { mirror in
                let file = ServedFile(Self.content)
                try await withServer({ _ in file.cutOff(at: 1 << 20) }) { home in
                    try await withSite { site in
                        let journal = try await site.download(home.url("/file.bin")) {
                            $0.mirrors = [mirror.url("/file.bin")]
                            $0.checksum = Self.checksum
                        }
                        expectComplete(Self.content, site, journal)
                        #expect(journal.record.integrity == .checksum)
                        #expect(mirror.commands.contains("REST \(1 << 20)"))
                    }
                }
            }
        }
    }

    @Test func `a listed file may lie on an FTP server`() async throws {
        try await withRoot { root in
            try await withFTPServer(root: root) { server in
                let metalink = """
                    <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="file.bin">
                    <url>\(server.url("/file.bin"))</url></file></metalink>
                    """
                try await withServer({ _ in
                    whole(
                        TestContent(Array(metalink.utf8)),
                        [("Content-Type", "application/metalink4+xml")]
                    )
                }) { home in
                    try await withSite { site in
                        let journal = try await site.download(home.url("/list.meta4"))
                        let listed = journal.listed.map(\.request.url)
                        #expect(listed == [server.url("/file.bin")])
                    }
                }
            }
        }
    }
}
