// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownTesting

/// FTP, FTPS and SFTP by real servers, with `kill -9` in mid-file.
@Suite(.timeLimit(.minutes(3)))
struct FileServerTests {
    private static let content = TestContent(seed: 51, count: 6 << 20)
    private static let firstPart: Int64 = 2 << 20

    private func withRoot(_ body: (String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            chmod(folder, 0o755)
            let root = folder + "/root"
            mkdir(root, 0o755)
            try Self.content.write(toFile: root + "/file.bin")
            try await body(root)
        }
    }

    /// Has the service killed when a part of the file is safe and more of it is on its way.
    private func killInMidFile(
        _ service: ServiceUnderTest,
        _ url: String,
        under wrapper: [String] = [],
        then letGo: () -> Void
    ) async throws {
        try await service.start(under: wrapper)
        // Others would fetch what the held one does not.
        let id = try await service.add(url) { $0.connections = 1 }
        try await service.waitForBytes(Self.firstPart, of: id)
        try await service.pause(id, with: Self.firstPart)
        let recorded = try await service.client.getTask(id).downloadedBytes
        #expect(recorded >= UInt64(Self.firstPart))
        try await service.client.resume(id)
        try await service.waitForState("downloading", of: id)
        try await service.kill9()
        letGo()
        try await service.start(under: wrapper)
        #expect(try await service.client.getTask(id).downloadedBytes >= recorded)
        try await service.waitForState("completed", of: id, limit: .seconds(60))
        let task = try await service.client.getTask(id)
        #expect(try Self.content.firstDifference(fromFile: task.path) == nil)
        #expect(task.integrity == .length)
        #expect(TestFile.names(in: service.home.downloads) == ["file.bin"])
    }

    @Test func `a kill in the middle of an FTP file costs no byte and no second fetch`()
        async throws
    {
        try await withRoot { root in
            let login = (user: "me", password: "geheim")
            try await withFTPServer(root: root, login: login, holdAfter: 3 << 20) { server in
                try await withService(started: false) { service in
                    let url = server.url("/file.bin", login: "me:geheim@")
                    try await killInMidFile(service, url, then: server.letGo)
                    let restarts = server.commands.filter { $0.hasPrefix("REST ") }
                    let offsets = restarts.compactMap { Int64($0.dropFirst(5)) }
                    // What was safe is never asked for again from its first byte.
                    #expect(offsets.contains { $0 >= Self.firstPart }, "\(restarts)")
                    #expect(!service.log.contains("geheim"))
                }
            }
        }
    }

    /// An SFTP server behind a relay that holds each connection, and a service that knows it.
    private func withRelayedSSH(
        _ root: String,
        holdAfter: Int64,
        _ body: (ServiceUnderTest, _ url: String, Relay) async throws -> Void
    ) async throws {
        let folder = root + ".ssh"
        mkdir(folder, 0o700)
        try await withSSHServer(in: folder) { server in
            let relayed = Relay.Kind.port(server.port)
            try await withRelay(relayed, in: folder, holdAfter: holdAfter) { relay in
                try await withService(started: false) { service in
                    let ssh = service.home.path + "/.ssh"
                    mkdir(ssh, 0o700)
                    let known = try server.knownHost(at: relay.port)
                    try TestFile.write(known, to: ssh + "/known_hosts")
                    let key = try TestFile.bytes(of: server.key)
                    try TestFile.write(key, to: ssh + "/id_ed25519")
                    try await body(service, server.url(root + "/file.bin", port: relay.port), relay)
                }
            }
        }
    }

    @Test func `a kill in the middle of an SFTP file costs no byte`() async throws {
        try await withRoot { root in
            try await withRelayedSSH(root, holdAfter: 3 << 20) { service, url, relay in
                try await killInMidFile(service, url, then: relay.letGo)
            }
        }
    }

    @Test func `a kill in the middle of an FTPS file costs no byte`() async throws {
        try await withRoot { root in
            let folder = root + ".ftps"
            mkdir(folder, 0o700)
            let certificates = try await TestCertificates(in: folder)
            try await withSecureFTPServer(
                root: root,
                certificates: certificates,
                in: folder,
                bytesPerSecond: 4_000_000
            ) { server in
                try await withService(started: false) { service in
                    let trust = ["env", "SSL_CERT_FILE=\(certificates.authority)"]
                    try await killInMidFile(service, server.url("/file.bin"), under: trust) {}
                }
            }
        }
    }

    @Test func `an SFTP host that nobody knows fails, and says what to do`() async throws {
        try await withRoot { root in
            let folder = root + ".ssh"
            mkdir(folder, 0o700)
            try await withSSHServer(in: folder) { server in
                try await withService { service in
                    let id = try await service.add(server.url(root + "/file.bin"))
                    try await service.waitForState("failed", of: id)
                    let task = try await service.client.getTask(id)
                    #expect(task.errorCode == "Network.TLS")
                    #expect(task.errorMessage.contains("known_hosts"))
                    #expect(!TestFile.exists(service.home.path + "/.ssh/known_hosts"))
                }
            }
        }
    }
}
