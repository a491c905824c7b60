// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

/// Downloads by FTP, FTPS and SFTP from real servers.
@Suite(.timeLimit(.minutes(3))) struct FileServerTests {
    private static let content = TestContent(seed: 41, count: 3 << 20)
    private static let replaced = TestContent(seed: 42, count: 3 << 20)

    private func withRoot(_ body: (String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            chmod(folder, 0o755)
            let root = folder + "/root"
            mkdir(root, 0o755)
            try Self.put(Self.content, in: root, changed: 1_700_000_000)
            try await body(root)
        }
    }

    private static func put(_ content: TestContent, in root: String, changed: Int) throws {
        try content.write(toFile: root + "/file.bin")
        let time = timeval(tv_sec: changed, tv_usec: 0)
        #expect(utimes(root + "/file.bin", [time, time]) == 0)
    }

    /// Stops the first attempt in mid-file, then runs another one.
    private func interrupt(
        _ url: String,
        network: NetworkConfiguration = NetworkConfiguration(),
        then letGo: () throws -> Void,
        check: (Site, RecordingJournal) async throws -> Void
    ) async throws {
        try await withSite(network: network, checkpointInterval: .milliseconds(50)) { site in
            let journal = try site.task(url)
            let transfer = try site.start(journal)
            await journal.waitUntil { $0.segments.byteCount >= 1 << 20 }
            transfer.stop()
            await transfer.ended()
            let kept = journal.record.segments.prefixLength
            #expect(kept >= 1 << 20)
            #expect(kept < Self.content.count)
            try letGo()
            try journal.apply(.pause)
            try await site.run(journal)
            try await check(site, journal)
        }
    }

    @Test func `a file by FTP gets the time that MDTM tells`() async throws {
        try await withRoot { root in
            try await withFTPServer(root: root) { server in
                try await withSite { site in
                    site.engine.usesServerTime = true
                    let journal = try await site.download(server.url("/file.bin"))
                    expectComplete(Self.content, site, journal)
                    var status = stat()
                    #expect(lstat(site.path("file.bin"), &status) == 0)
                    #expect(status.st_mtim.tv_sec == 1_700_000_000)
                }
            }
        }
    }

    @Test func `a file whose end an FTP server never tells is whole, and holds up others briefly`()
        async throws
    {
        try await withRoot { root in
            try await withFTPServer(root: root, oddity: .forgetsEnd) { server in
                try await withSite { site in
                    let journal = try site.task(server.url("/file.bin"))
                    // Left to itself libcurl stands still for a minute.
                    try await within("its end", limit: .seconds(30)) {
                        try await site.run(journal)
                    }
                    expectComplete(Self.content, site, journal)
                }
            }
        }
    }

    @Test func `FTP goes on where it was stopped`() async throws {
        try await withRoot { root in
            try await withFTPServer(root: root, holdAfter: 3 << 19) { server in
                let url = server.url("/file.bin")
                try await interrupt(url, then: server.letGo) { site, journal in
                    expectComplete(Self.content, site, journal)
                    #expect(journal.record.integrity == .length)
                    #expect(server.commands.contains { $0.hasPrefix("REST ") })
                }
            }
        }
    }

    @Test func `a file that was replaced on an FTP server is fetched anew`() async throws {
        try await withRoot { root in
            try await withFTPServer(root: root, holdAfter: 3 << 19) { server in
                let replace = {
                    try Self.put(Self.replaced, in: root, changed: 1_700_000_001)
                    server.letGo()
                }
                try await interrupt(server.url("/file.bin"), then: replace) { site, journal in
                    expectComplete(Self.replaced, site, journal)
                }
            }
        }
    }

    @Test func `bytes that the file begins with prove nothing to a server that ignores REST`()
        async throws
    {
        let bytes = [UInt8](repeating: 7, count: 5 << 19)
        let content = TestContent(bytes + TestContent(seed: 44, count: 1 << 19).bytes)
        try await withRoot { root in
            try Self.put(content, in: root, changed: 1_700_000_000)
            try await withFTPServer(root: root, holdAfter: 3 << 19, oddity: .ignoresRestart) {
                server in
                try await interrupt(server.url("/file.bin"), then: server.letGo) { site, journal in
                    expectComplete(content, site, journal)
                }
            }
        }
    }

    @Test func `an FTP server that accepts REST and refuses RETR after it is asked for all`()
        async throws
    {
        try await withRoot { root in
            try await withFTPServer(root: root, holdAfter: 3 << 19, oddity: .cannotSeek) { server in
                try await interrupt(server.url("/file.bin"), then: server.letGo) { site, journal in
                    expectComplete(Self.content, site, journal)
                    #expect(server.commands.contains { $0.hasPrefix("REST ") })
                }
            }
        }
    }

    @Test func `an FTP server that knows no size of the file brings it all the same`() async throws
    {
        try await withRoot { root in
            try await withFTPServer(root: root, oddity: .hidesSize) { server in
                try await withSite { site in
                    let journal = try await site.download(server.url("/file.bin"))
                    expectComplete(Self.content, site, journal)
                    #expect(journal.record.integrity == Integrity.none)
                }
            }
        }
    }

    @Test func `a complete file gets its name where the FTP server cannot say what it ends with`()
        async throws
    {
        try await withRoot { root in
            try await withFTPServer(root: root, oddity: .refusesRestart) { server in
                try await withSite { site in
                    let journal = try site.task(server.url("/file.bin"))
                    journal.before { event, _ in
                        if case .publishing = event { throw RecordingJournal.NotWritten() }
                        return true
                    }
                    try await site.run(journal)
                    #expect(journal.record.segments.covers(Self.content.count))
                    journal.before { _, _ in true }
                    try await site.run(journal)
                    expectComplete(Self.content, site, journal)
                    #expect(server.commands.contains { $0.hasPrefix("REST ") })
                }
            }
        }
    }

    @Test func `an FTP file that has shrunk is fetched anew`() async throws {
        let small = TestContent(seed: 43, count: 1000)
        try await withRoot { root in
            try await withFTPServer(root: root, holdAfter: 3 << 19) { server in
                let replace = {
                    try Self.put(small, in: root, changed: 1_700_000_000)
                    server.letGo()
                }
                try await interrupt(server.url("/file.bin"), then: replace) { site, journal in
                    expectComplete(small, site, journal)
                }
            }
        }
    }

    @Test func `a server whose replies are one behind is asked again on another connection`()
        async throws
    {
        try await withRoot { root in
            try await withFTPServer(root: root, oddity: .repeatsReply) { server in
                try await withSite { site in
                    let journal = try site.task(server.url("/file.bin"))
                    try await site.run(journal)
                    #expect(journal.record.failure?.isTransient == true, "\(journal.record)")
                    try await site.run(journal)
                    expectComplete(Self.content, site, journal)
                    #expect(server.commands.count { $0.hasPrefix("USER") } == 2)
                }
            }
        }
    }

    @Test func `FTPS brings the file`() async throws {
        try await withRoot { root in
            let folder = root + ".ftps"
            mkdir(folder, 0o700)
            let certificates = try await TestCertificates(in: folder)
            var network = NetworkConfiguration()
            network.certificates.file = certificates.authority
            let trusting = network
            try await withSecureFTPServer(root: root, certificates: certificates, in: folder) {
                server in
                try await withSite(network: trusting) { site in
                    let journal = try await site.download(server.url("/file.bin"))
                    expectComplete(Self.content, site, journal)
                }
                try await withSite { site in
                    let journal = try await site.download(server.url("/file.bin"))
                    expectFailure(.networkTLS, isTransient: false, site, journal)
                }
            }
        }
    }

    @Test func `SFTP goes on where it was stopped`() async throws {
        try await withRoot { root in
            let folder = root + ".ssh"
            mkdir(folder, 0o700)
            try await withSSHServer(in: folder) { server in
                let relayed = Relay.Kind.port(server.port)
                try await withRelay(relayed, in: folder, holdAfter: 3 << 19) { relay in
                    let known = folder + "/known_hosts"
                    try TestFile.write(try server.knownHost(at: relay.port), to: known)
                    var network = NetworkConfiguration()
                    network.knownHostsFile = known
                    network.sshKeys = [server.key]
                    let url = server.url(root + "/file.bin", port: relay.port)
                    try await interrupt(url, network: network, then: relay.letGo) {
                        site,
                        journal in
                        expectComplete(Self.content, site, journal)
                        #expect(journal.record.integrity == .length)
                    }
                }
            }
        }
    }

    @Test func `an SFTP host that ends the connection before its greeting is asked again`()
        async throws
    {
        try await withRoot { root in
            try TestFile.write("", to: root + ".known_hosts")
            var network = NetworkConfiguration()
            network.knownHostsFile = root + ".known_hosts"
            let known = network
            // Nobody listens at the port.
            try await withRelay(.port(try FreePort.find()), in: root) { relay in
                try await withSite(network: known) { site in
                    let url = "sftp://user@127.0.0.1:\(relay.port)/file.bin"
                    let journal = try await site.download(url)
                    expectFailure(.networkReset, isTransient: true, site, journal)
                }
            }
        }
    }

    @Test func `an SFTP host that nobody knows is not talked to`() async throws {
        try await withRoot { root in
            let folder = root + ".ssh"
            mkdir(folder, 0o700)
            try await withSSHServer(in: folder) { server in
                var network = NetworkConfiguration()
                network.knownHostsFile = folder + "/known_hosts"
                network.sshKeys = [server.key]
                for isRight in [nil, false, true] {
                    let line = try isRight.map { try server.knownHost(isRight: $0) } ?? ""
                    try TestFile.write(line, to: folder + "/known_hosts")
                    try await withSite(network: network) { site in
                        let url = server.url(root + "/file.bin")
                        let journal = try await site.download(url)
                        if isRight == true {
                            expectComplete(Self.content, site, journal)
                        } else {
                            expectFailure(.networkTLS, isTransient: false, site, journal)
                            let message = journal.record.failure?.message ?? ""
                            #expect(message.contains("known_hosts"))
                        }
                    }
                }
            }
        }
    }

    /// OpenSSH accepts and refuses the same.
    @Test func `an SFTP host is asked for a key of a kind that is known of it`() async throws {
        typealias Kind = SSHServer.KeyKind
        let rows: [(offered: [Kind], wrong: [Kind], right: [Kind], isTrusted: Bool)] = [
            ([.ed25519], [.ecdsa], [.ed25519], true),
            ([.ecdsa], [.ed25519], [.ecdsa], true),
            ([.ed25519, .ecdsa], [], [.ecdsa], true),
            ([.ed25519, .ecdsa], [], [.ecdsa, .ed25519], true),
            ([.ed25519, .ecdsa], [.ed25519], [.ecdsa], false),
            ([.ed25519], [.ecdsa], [], false),
        ]
        for row in rows {
            try await withRoot { root in
                let folder = root + ".ssh"
                mkdir(folder, 0o700)
                try await withSSHServer(in: folder, offering: row.offered) { server in
                    // Those of another host, of every kind, may not decide for this one.
                    let others = try Kind.allCases.map { try server.knownHost($0, at: 1) }
                    let wrong = try row.wrong.map { try server.knownHost($0, isRight: false) }
                    let right = try row.right.map { try server.knownHost($0) }
                    let known = folder + "/known_hosts"
                    try TestFile.write((others + wrong + right).joined(), to: known)
                    var network = NetworkConfiguration()
                    network.knownHostsFile = known
                    network.sshKeys = [server.key]
                    for isHashed in [false, true] {
                        if isHashed {
                            let hashing = try await ChildProcess.run(
                                "ssh-keygen",
                                ["-H", "-f", known]
                            )
                            #expect(hashing.succeeded)
                        }
                        try await withSite(network: network) { site in
                            let journal = try await site.download(server.url(root + "/file.bin"))
                            guard !row.isTrusted else {
                                return expectComplete(Self.content, site, journal)
                            }
                            expectFailure(.networkTLS, isTransient: false, site, journal)
                            let message = journal.record.failure?.message ?? ""
                            #expect(message.contains("known_hosts"), "\(message)")
                        }
                    }
                }
            }
        }
    }

    @Test func `each refusal has its code`() async throws {
        try await withRoot { root in
            try await withFTPServer(root: root, login: ("me", "secret")) { server in
                let rows: [(String, String, FailureCode)] = [
                    ("me:secret@", "/none", .serverNotFound),
                    ("me:secret@", "/none/file.bin", .serverNotFound),
                    ("me:wrong@", "/file.bin", .serverAuthRequired),
                    ("", "/file.bin", .serverAuthRequired),
                    ("me:secret@", "/a%0D%0AQUIT", .serverBadResponse),
                ]
                for (login, path, code) in rows {
                    try await withSite { site in
                        let url = server.url(path, login: login)
                        let journal = try await site.download(url)
                        expectFailure(code, isTransient: false, site, journal)
                        let message = journal.record.failure?.message ?? ""
                        #expect(!message.contains("wrong"))
                        // A stored login would not be sent in place of the URL's.
                        let isWithout = code == .serverAuthRequired && login.isEmpty
                        #expect(message.contains("idown login") == isWithout, "\(message)")
                    }
                }
            }
        }
    }

    @Test(arguments: [FTPServer.Oddity.isFull, .isShut])
    func `a server that has too many users is busy`(oddity: FTPServer.Oddity) async throws {
        try await withRoot { root in
            try await withFTPServer(root: root, oddity: oddity) { server in
                try await withSite { site in
                    let journal = try await site.download(server.url("/file.bin"))
                    expectFailure(.serverBusy, isTransient: true, site, journal)
                    // So it is waited for as long as an outage may last.
                    #expect(journal.record.hostHasAnswered)
                }
            }
        }
    }

    @Test(arguments: [FTPServer.Oddity.overstatesSize, .deniesEnd])
    func `a file that is never whole ends the download after some tries`(oddity: FTPServer.Oddity)
        async throws
    {
        try await withRoot { root in
            try await withFTPServer(root: root, oddity: oddity) { server in
                try await withSite { site in
                    let journal = try site.task(server.url("/file.bin"))
                    for _ in 0..<12 where journal.record.state != .failed {
                        try await site.run(journal)
                    }
                    expectFailure(.serverTruncated, isTransient: false, site, journal)
                    let message = journal.record.failure?.message ?? ""
                    #expect(message.contains("ends after \(Self.content.count)"), "\(message)")
                    // Each is the whole file here; of the other one only the end is asked for again.
                    let fetches = server.commands.count { $0.hasPrefix("RETR") }
                    #expect(oddity == .overstatesSize || fetches <= RetryPolicy.tries + 1)
                }
            }
        }
    }

    @Test func `a login that is refused because there are too many is tried again`() async throws {
        try await withRoot { root in
            try await withFTPServer(root: root, oddity: .isCrowded) { server in
                try await withSite { site in
                    let journal = try await site.download(server.url("/file.bin"))
                    expectFailure(.serverBusy, isTransient: true, site, journal)
                    try await site.run(journal)
                    expectComplete(Self.content, site, journal)
                }
            }
        }
    }

    @Test func `a name that an FTP URL asks for stays in the folder`() async throws {
        try await withRoot { root in
            try await withFTPServer(root: root) { server in
                try Self.content.write(toFile: root + "/..evil")
                try await withSite { site in
                    let journal = try await site.download(server.url("/%2E%2Eevil"))
                    expectComplete(Self.content, as: "evil", site, journal)
                }
            }
        }
    }
}
