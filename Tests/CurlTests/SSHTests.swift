// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import Testing
import iDownTesting

/// SFTP by a real sshd.
@Suite(.timeLimit(.minutes(2)))
struct SSHTests {
    private static let content = TestContent(seed: 22, count: 300_007)
    private static let changed: Int64 = 1_700_000_000

    /// A server that knows a key, a file on it, and a list of known hosts that has the server.
    private struct Host {
        let server: SSHServer
        let file: String
        let knownHosts: String
        let pool: TransferPool

        func request(range: (first: Int64, last: Int64?)? = nil) throws -> TransferRequest {
            var request = TransferRequest(url: try URLReference(server.url(file)))
            request.range = range
            request.ssh.knownHostsFiles = [knownHosts]
            request.ssh.logins = [.key(path: server.key)]
            return request
        }
    }

    private func withHost(_ body: (Host) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try Self.content.write(toFile: folder + "/f")
            let time = timeval(tv_sec: Int(Self.changed), tv_usec: 0)
            #expect(utimes(folder + "/f", [time, time]) == 0)
            try await withSSHServer(in: folder) { server in
                try TestFile.write(try server.knownHost(), to: folder + "/known_hosts")
                try await withPool { pool in
                    try await body(
                        Host(
                            server: server,
                            file: folder + "/f",
                            knownHosts: folder + "/known_hosts",
                            pool: pool
                        )
                    )
                }
            }
        }
    }

    @Test func `SFTP brings a file with its size and time, and parts of it`() async throws {
        try await withHost { host in
            let count = Self.content.count
            let whole = RecordingSink()
            let outcome = await host.pool.run(try host.request(), sink: whole)
            #expect(outcome.result == .ok, "\(outcome)")
            #expect(whole.body == Self.content.bytes)
            let file = RemoteFile(size: count, modified: Self.changed, offset: nil, length: count)
            #expect(whole.files == [file])

            let rest = RecordingSink()
            let open = try host.request(range: (7, nil))
            #expect(await host.pool.run(open, sink: rest).result == .ok)
            #expect(rest.body == Self.content.bytes(in: 7..<count))
            #expect(rest.files.map(\.size) == [count])
            #expect(rest.files.map(\.offset) == [7])

            let part = RecordingSink()
            #expect(await host.pool.run(try host.request(range: (7, 99)), sink: part).result == .ok)
            #expect(part.body == Self.content.bytes(in: 7..<100))
            // The library does not say how long the whole is.
            #expect(part.files.map(\.size) == [nil])
            #expect(part.files.map(\.length) == [93])

            let beyond = try host.request(range: (count + 1, nil))
            #expect(await host.pool.run(beyond).result == .beyondEnd)
        }
    }

    @Test func `an empty file and a missing one are told apart`() async throws {
        try await withHost { host in
            var request = try host.request()
            try TestFile.write("", to: host.file + ".empty")
            request.url = try URLReference(host.server.url(host.file + ".empty"))
            let sink = RecordingSink()
            #expect(await host.pool.run(request, sink: sink).result == .ok)
            #expect(sink.files.map(\.size) == [0])
            request.url = try URLReference(host.server.url(host.file + ".none"))
            #expect(await host.pool.run(request).result == .remoteFileNotFound)
        }
    }

    @Test func `a host is trusted by the very key that is known`() async throws {
        try await withHost { host in
            func outcome(_ knownHosts: String?) async throws -> TransferOutcome {
                if let knownHosts { try TestFile.write(knownHosts, to: host.knownHosts) }
                return await host.pool.run(try host.request())
            }
            let unknown = try await outcome("")
            #expect(unknown.result == .peerVerification)
            #expect(unknown.hostKeyDoubt == .unknown)
            #expect(try TestFile.text(of: host.knownHosts) == "", "a key was added")
            let otherPort = try await outcome(try host.server.knownHost(at: 1))
            #expect(otherPort.hostKeyDoubt == .unknown)
            let changed = try await outcome(try host.server.knownHost(isRight: false))
            #expect(changed.result == .peerVerification)
            #expect(changed.hostKeyDoubt == .changed)
            unlink(host.knownHosts)
            #expect(try await outcome(nil).hostKeyDoubt == .unknown)

            var request = try host.request()
            request.ssh.knownHostsFiles = []
            #expect(await host.pool.run(request).result == .badRequest)

            let right = try host.server.knownHost()
            try TestFile.write(right, to: host.knownHosts)
            func outcomeRevoking(_ line: String) async throws -> TransferOutcome {
                var request = try host.request()
                let key = try #require(line.split { $0 == " " || $0 == "\n" }.dropFirst(2).first)
                request.ssh.revokedKeys = [String(key)]
                return await host.pool.run(request)
            }
            let revoked = try await outcomeRevoking(right)
            #expect(revoked.result == .peerVerification)
            #expect(revoked.hostKeyDoubt == .revoked)
            let other = try host.server.knownHost(isRight: false)
            #expect(try await outcomeRevoking(other).result == .ok)
        }
    }

    @Test func `the ways to sign in are tried one after the other`() async throws {
        try await withHost { host in
            var request = try host.request()
            let folder = host.server.key.dropLast("user".count)
            request.ssh.logins = [
                .agent, .key(path: folder + "none"), .key(path: folder + "other-ed25519"),
                .password, .key(path: host.server.key),
            ]
            let sink = RecordingSink()
            #expect(await host.pool.run(request, sink: sink).result == .ok)
            #expect(sink.body == Self.content.bytes)

            request.ssh.logins.removeLast()
            // On another pool, since a connection that stands is signed in.
            let denied = request
            try await withPool { #expect(await $0.run(denied).result == .loginDenied) }
        }
    }

    @Test func `nobody comes in by a login that somebody else has used`() async throws {
        try await withHost { host in
            #expect(await host.pool.run(try host.request()).result == .ok)
            var request = try host.request()
            request.ssh.logins = []
            #expect(await host.pool.run(request).result == .loginDenied)
        }
    }
}
