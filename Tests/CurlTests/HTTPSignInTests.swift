// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownTesting

/// Who gets a password by HTTP, and in which form.
@Suite(.timeLimit(.minutes(2)))
struct HTTPSignInTests {
    private static let basic = "Basic realm=\"here\""
    /// Without `qop` the answer depends on nothing that a client chooses (RFC 7616 section 3.4.1).
    private static let digest = "Digest realm=\"here\", nonce=\"n\""
    /// What MD5 makes of `me`, `here`, `secret`, `n`, `GET` and `/f`.
    private static let response = "f829d36c8409333aa7a1f2f176de24ce"
    private static let content = Array("the file".utf8)

    private static func file(_ request: RecordedRequest) -> [FaultServer.Step] {
        [.head("200 OK", [("Content-Length", "\(content.count)")]), .send(content)]
    }

    private func withHost(
        _ party: FaultServer.Guard = .host,
        by challenges: [String],
        _ answer: @escaping @Sendable (RecordedRequest) -> [FaultServer.Step] = file,
        _ body: (FaultServer, TransferPool) async throws -> Void
    ) async throws {
        let script = FaultServer.Script(guarded(as: party, by: challenges, answer))
        let server = try FaultServer(script: script)
        defer { server.stop() }
        try await withPool { pool in try await body(server, pool) }
    }

    private func request(_ url: String) throws -> TransferRequest {
        var request = TransferRequest(url: try URLReference(url))
        request.credentials = .init(user: "me", password: "secret")
        return request
    }

    /// Gets the file, of which the sink hears one head.
    private func expectFile(_ request: TransferRequest, _ pool: TransferPool) async {
        let sink = RecordingSink()
        let outcome = await pool.run(request, sink: sink)
        #expect(outcome.result == .ok, "\(outcome)")
        #expect(outcome.status == 200)
        #expect(sink.body == Self.content)
        #expect(sink.lines.first == "HTTP/1.1 200 OK\r\n")
        #expect(sink.lines.count { $0.hasPrefix("HTTP/") } == 1, "\(sink.lines)")
    }

    @Test(arguments: [[digest], [basic, digest], [digest, basic]])
    func `a host that takes Digest gets it, and no password in clear`(
        challenges: [String]
    ) async throws {
        try await withHost(by: challenges) { server, pool in
            let request = try request(server.url("/f"))
            await expectFile(request, pool)
            await expectFile(request, pool)
            let seen = server.requests.map { $0["Authorization"] ?? "" }
            try #require(seen.count == 4)
            #expect(seen[0].isEmpty && seen[2].isEmpty)
            for answer in [seen[1], seen[3]] {
                #expect(answer.hasPrefix("Digest username=\"me\""))
                #expect(answer.contains("response=\"\(Self.response)\""))
            }
        }
    }

    @Test func `one that takes Basic is asked once a folder how it wants it`() async throws {
        try await withHost(by: [Self.basic]) { server, pool in
            let answer = "Basic bWU6c2VjcmV0"
            // What is taken in one folder says nothing of another, which might take Digest.
            for path in ["/f", "/f", "/g", "/folder/f", "/folder/g?h=/i"] {
                await expectFile(try request(server.url(path)), pool)
            }
            let seen = server.requests.map { $0["Authorization"] }
            #expect(seen == [nil, answer, answer, answer, nil, answer, answer])
        }
    }

    @Test func `a folder gets Digest although another of its host takes Basic`() async throws {
        let script = FaultServer.Script { request in
            let takesBasic = request.path == "/neighbour"
            let field = request["Authorization"] ?? ""
            if field.hasPrefix(takesBasic ? "Basic" : "Digest") { return Self.file(request) }
            let offers = takesBasic ? [Self.basic] : [Self.basic, Self.digest]
            let fields = offers.map { ("WWW-Authenticate", $0) } + [("Content-Length", "2")]
            return [.head("401 Unauthorized", fields), .text("no")]
        }
        let server = try FaultServer(script: script)
        defer { server.stop() }
        try await withPool { pool in
            await expectFile(try request(server.url("/neighbour")), pool)
            for _ in 0..<2 { await expectFile(try request(server.url("/f")), pool) }
        }
    }

    @Test func `one that asks nothing gets nothing`() async throws {
        let server = try FaultServer(script: .init { Self.file($0) })
        defer { server.stop() }
        try await withPool { pool in
            await expectFile(try request(server.url("/f")), pool)
            #expect(server.requests.map { $0["Authorization"] } == [nil])
        }
    }

    @Test(arguments: [[basic], [digest]])
    func `the answer to a wrong password is the sink's`(challenges: [String]) async throws {
        let fields = challenges.map { ("WWW-Authenticate", $0) } + [("Content-Length", "5")]
        try await withHost(
            by: challenges,
            { _ in [.head("401 Wrong", fields), .text("wrong")] },
            { server, pool in
                let sink = RecordingSink()
                let outcome = await pool.run(try request(server.url("/f")), sink: sink)
                #expect(outcome.status == 401)
                #expect(sink.lines.filter { $0.hasPrefix("HTTP/") } == ["HTTP/1.1 401 Wrong\r\n"])
                #expect(sink.body == Array("wrong".utf8))
                #expect(server.requests.count == 2)
            }
        )
    }

    @Test func `a nonce that is too old is followed by another, of which the sink hears nothing`()
        async throws
    {
        let fresh = "Digest realm=\"here\", nonce=\"m\", stale=true"
        let server = try FaultServer(
            script: .init { request in
                let field = request["Authorization"] ?? ""
                if field.contains("nonce=\"m\"") { return Self.file(request) }
                let challenge = field.isEmpty ? Self.digest : fresh
                let fields = [("WWW-Authenticate", challenge), ("Content-Length", "2")]
                return [.head("401 Unauthorized", fields), .text("no")]
            }
        )
        defer { server.stop() }
        try await withPool { pool in
            await expectFile(try request(server.url("/f")), pool)
            #expect(server.requests.count == 3)
        }
    }

    @Test func `silence after a challenge is no word about the password`() async throws {
        try await withHost(by: [Self.digest], { _ in [.close] }) { server, pool in
            let sink = RecordingSink()
            let outcome = await pool.run(try request(server.url("/f")), sink: sink)
            #expect(outcome.result != .ok)
            #expect(sink.lines.isEmpty)
            #expect(server.requests.count >= 2)
        }
    }

    @Test(arguments: [FaultServer.Guard.host, .proxy])
    func `nonces that are always old end after a few requests`(
        party: FaultServer.Guard
    ) async throws {
        let (status, field) =
            party == .host
            ? ("401 Unauthorized", "WWW-Authenticate")
            : ("407 Proxy Authentication Required", "Proxy-Authenticate")
        let server = try FaultServer(
            script: .init { request in
                let challenge = "Digest realm=\"here\", nonce=\"\(request.number)\", stale=true"
                return [.head(status, [(field, challenge), ("Content-Length", "0")])]
            }
        )
        defer { server.stop() }
        try await withPool { pool in
            var request = try request(server.url("/f"))
            if party == .proxy {
                request.credentials = nil
                let proxy = ProxyServer(server.url("").replacing("//", with: "//me:secret@"))
                request.proxy = .through(try #require(proxy))
            }
            let sink = RecordingSink()
            let outcome = await pool.run(request, sink: sink)
            #expect(outcome.result != .ok)
            #expect(sink.lines.last { $0.hasPrefix("HTTP/") }?.contains(status.prefix(3)) == true)
            #expect(server.requests.count <= 5)
        }
    }

    @Test(arguments: [[], ["Bearer realm=\"here\""], ["Digest"]])
    func `who asks for what nobody has gets no password`(challenges: [String]) async throws {
        try await withHost(by: challenges) { server, pool in
            let sink = RecordingSink()
            let outcome = await pool.run(try request(server.url("/f")), sink: sink)
            #expect(outcome.status == 401)
            #expect(sink.lines.count { $0.hasPrefix("HTTP/") } == 1)
            #expect(sink.lines.last == "\r\n")
            #expect(server.requests.allSatisfy { $0["Authorization"] == nil })
        }
    }

    @Test func `under cover of TLS the password goes out at once, and Digest where it must`()
        async throws
    {
        for challenges in [[Self.basic], [Self.digest]] {
            try await withHost(by: challenges) { server, pool in
                try await withTemporaryFolder { folder in
                    let certificates = try await TestCertificates(in: folder)
                    let port = try FreePort.find()
                    let tls = """
                        listen 127.0.0.1:\(port) ssl; ssl_certificate \(certificates.server);
                        ssl_certificate_key \(certificates.server);
                        location /f { proxy_pass http://127.0.0.1:\(server.port); }
                        """
                    try await withNginx(root: folder, extraConfig: tls) { _ in
                        var request = try request("https://localhost:\(port)/f")
                        request.certificates.file = certificates.authority
                        for _ in 0..<2 {
                            let sink = RecordingSink()
                            let outcome = await pool.run(request, sink: sink)
                            #expect(outcome.status == 200)
                            #expect(sink.lines.count { $0.hasPrefix("HTTP/") } == 1)
                        }
                        let seen = server.requests.map { request in
                            request["Authorization"]?.prefix { $0 != " " } ?? ""
                        }
                        let isBasic = challenges == [Self.basic]
                        #expect(
                            seen
                                == (isBasic
                                    ? ["Basic", "Basic"] : ["Basic", "", "Digest", "", "Digest"])
                        )
                    }
                }
            }
        }
    }

    @Test(arguments: [[basic], [digest], [digest, basic]])
    func `a proxy is signed in to in the same way`(challenges: [String]) async throws {
        try await withHost(.proxy, by: challenges) { server, pool in
            var request = TransferRequest(url: try URLReference("http://host.test/f"))
            let proxy = ProxyServer("http://me:secret@127.0.0.1:\(server.port)")
            request.proxy = .through(try #require(proxy))
            await expectFile(request, pool)
            await expectFile(request, pool)
            let seen = server.requests.map { $0["Proxy-Authorization"] ?? "" }
            if challenges == [Self.basic] {
                #expect(seen == ["", "Basic bWU6c2VjcmV0", "Basic bWU6c2VjcmV0"])
            } else {
                try #require(seen.count == 4)
                #expect(seen[0].isEmpty && seen[2].isEmpty)
                #expect(seen[1].hasPrefix("Digest ") && seen[3].hasPrefix("Digest "))
            }
            #expect(server.requests.allSatisfy { $0["Authorization"] == nil })
        }
    }
}
