// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownTesting

/// netrc and cookies, and that they stay with the request that named them.
@Suite(.timeLimit(.minutes(1)))
struct StoredLoginTests {
    private func withHost(
        _ body: (FaultServer, TransferPool, String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let server = try FaultServer(
                script: .init(
                    guarded { _ in
                        let fields = [("Content-Length", "0"), ("Set-Cookie", "new=1; Path=/")]
                        return [.head("200 OK", fields)]
                    }
                )
            )
            defer { server.stop() }
            try TestFile.write(
                "machine 127.0.0.1 login me password secret\n",
                to: folder + "/netrc"
            )
            // Domain, with its subdomains, path, secure, expiry, name and value.
            try TestFile.write(
                "127.0.0.1\tFALSE\t/\tFALSE\t0\tkept\tsecret\n",
                to: folder + "/cookies"
            )
            try await withPool { pool in try await body(server, pool, folder) }
        }
    }

    @Test func `a login of netrc goes to its host, and not with the next request`() async throws {
        try await withHost { server, pool, folder in
            var request = TransferRequest(url: try URLReference(server.url()))
            request.netrcFile = folder + "/netrc"
            #expect(await pool.run(request).result == .ok)
            request.netrcFile = nil
            #expect(await pool.run(request).result == .ok)
            let seen = server.requests.map { $0["Authorization"] }
            #expect(seen == [nil, "Basic bWU6c2VjcmV0", nil])
        }
    }

    @Test func `what the request says comes before netrc`() async throws {
        try await withHost { server, pool, folder in
            var request = TransferRequest(url: try URLReference(server.url()))
            request.netrcFile = folder + "/netrc"
            request.credentials = .init(user: "you", password: "own")
            #expect(await pool.run(request).result == .ok)
            request.credentials = nil
            request.headers = [(name: "authorization", value: "Bearer own")]
            #expect(await pool.run(request).result == .ok)
            let seen = server.requests.map { $0["Authorization"] }
            #expect(seen == [nil, "Basic eW91Om93bg==", "Bearer own"])
        }
    }

    @Test func `cookies go to their host, and those of one request never with another`()
        async throws
    {
        try await withHost { server, pool, folder in
            var request = TransferRequest(url: try URLReference(server.url()))
            request.cookieFile = folder + "/cookies"
            #expect(await pool.run(request).result == .ok)
            request.cookieFile = nil
            #expect(await pool.run(request).result == .ok)
            request.cookies = "set=1"
            #expect(await pool.run(request).result == .ok)
            request.cookieFile = folder + "/cookies"
            #expect(await pool.run(request).result == .ok)
            request.headers = [(name: "Cookie", value: "own=1")]
            #expect(await pool.run(request).result == .ok)
            let seen = server.requests.map { $0["Cookie"] }
            #expect(seen == ["kept=secret", nil, "set=1", "kept=secret; set=1", "own=1"])
            #expect(try TestFile.text(of: folder + "/cookies").split(separator: "\n").count == 1)
        }
    }
}
