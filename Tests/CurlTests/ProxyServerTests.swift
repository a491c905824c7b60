// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownTesting

@Suite(.timeLimit(.minutes(2)))
struct ProxyServerTests {
    @Test(arguments: [
        ("proxy:3128", "http://proxy:3128"), ("http://proxy:80", "http://proxy:80"),
        ("HTTPS://proxy", "https://proxy"), ("socks5h://[::1]:1080/", "socks5h://[::1]:1080"),
        ("socks://proxy:1080/", "socks4://proxy:1080"),
    ])
    func `a proxy is a host, perhaps with a scheme and a port`(text: String, address: String) {
        #expect(ProxyServer(text)?.address == address)
        #expect(ProxyServer(text)?.credentials == nil)
    }

    @Test func `a login is taken apart from the address`() throws {
        let proxy = try #require(ProxyServer("me:p%40ss@proxy:1"))
        #expect(proxy.address == "http://proxy:1")
        #expect(proxy.credentials == .init(user: "me", password: "p@ss"))
        #expect(ProxyServer("http://me@proxy")?.credentials == .init(user: "me", password: nil))
    }

    @Test(arguments: ["", "http://", "ftp://proxy:1", "file:///x", "a b:1", "http://proxy:99999"])
    func `what is no proxy is refused`(text: String) {
        #expect(ProxyServer(text) == nil)
    }

    @Test func `through an HTTP proxy the login for it reaches the proxy and no server`()
        async throws
    {
        let file = ServedFile(TestContent(Array("by proxy".utf8)))
        let proxy = try FaultServer(script: .init(guarded(as: .proxy) { file.answer(to: $0) }))
        defer { proxy.stop() }
        try await withPool { pool in
            var request = TransferRequest(url: try URLReference("http://host.test/f"))
            request.proxy = try choice("http://me:secret@127.0.0.1:\(proxy.port)")
            let sink = RecordingSink()
            let outcome = await pool.run(request, sink: sink)
            #expect(sink.body == Array("by proxy".utf8))
            #expect(outcome.proxy == "127.0.0.1:\(proxy.port)")
            let seen = await proxy.waitForRequest(count: 2)
            #expect(seen.target == "http://host.test/f")
            #expect(seen["Proxy-Authorization"] == "Basic bWU6c2VjcmV0")
            #expect(seen["Authorization"] == nil)
        }
    }

    @Test func `a proxy that takes logins in another way by now gets them in that way`()
        async throws
    {
        let file = ServedFile(TestContent(Array("by proxy".utf8)))
        func asking(_ challenge: String) -> [FaultServer.Step] {
            [
                .head(
                    "407 Proxy Authentication Required",
                    [("Proxy-Authenticate", challenge), ("Content-Length", "0")]
                )
            ]
        }
        let digest = asking("Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")
        let basic = asking("Basic realm=\"r\"")
        let proxy = try FaultServer(
            script: .init { request in
                let login = request["Proxy-Authorization"] ?? ""
                guard request.method == "CONNECT" else {
                    return login.hasPrefix("Digest") ? file.answer(to: request) : digest
                }
                return login.hasPrefix("Basic") ? [.head("200 OK", []), .close] : basic
            }
        )
        defer { proxy.stop() }
        try await withPool { pool in
            var request = TransferRequest(url: try URLReference("http://host.test/f"))
            request.proxy = try choice("http://me:secret@127.0.0.1:\(proxy.port)")
            #expect(await pool.run(request).result == .ok)
            request.url = try URLReference("https://host.test/f")
            let outcome = await pool.run(request)
            #expect(outcome.proxyStatus == 200)
            #expect(proxy.requests.last?["Proxy-Authorization"] == "Basic bWU6c2VjcmV0")
        }
    }

    @Test(arguments: ["secret", "wrong"])
    func `a proxy that asks for a login and closes gets it with the next request`(
        password: String
    ) async throws {
        let fields = [("Proxy-Authenticate", "Basic realm=\"r\""), ("Content-Length", "0")]
        let proxy = try FaultServer(
            script: .init { request in
                request["Proxy-Authorization"] == "Basic bWU6c2VjcmV0"
                    ? [.head("200 OK", []), .close]
                    : [.head("407 Proxy Authentication Required", fields), .close]
            }
        )
        defer { proxy.stop() }
        try await withPool { pool in
            var request = TransferRequest(url: try URLReference("https://host.test/f"))
            request.proxy = try choice("http://me:\(password)@127.0.0.1:\(proxy.port)")
            for connections in [2, 3] {
                let outcome = await pool.run(request)
                #expect(outcome.proxyStatus == (password == "secret" ? 200 : 407))
                let isRefused = outcome.message.contains("response 407")
                #expect(isRefused == (password == "wrong"), "\(outcome.message)")
                #expect(proxy.requests.count == connections)
            }
        }
    }

    @Test func `through a tunnel the server sees neither the login nor the proxy's answer`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let server = try FaultServer.serving(file: Array("by tunnel".utf8))
            defer { server.stop() }
            let certificates = try await TestCertificates(in: folder)
            let port = try FreePort.find()
            let tls = """
                listen 127.0.0.1:\(port) ssl; ssl_certificate \(certificates.server);
                ssl_certificate_key \(certificates.server);
                location /seen { return 200 "[$http_proxy_authorization$http_authorization]"; }
                """
            try await withNginx(root: folder, extraConfig: tls) { _ in
                try await withRelay(.tunnel(login: "me:secret"), in: folder) { relay in
                    try await withPool { pool in
                        let url = try URLReference("https://localhost:\(port)/seen")
                        var request = TransferRequest(url: url)
                        request.certificates.file = certificates.authority
                        request.proxy = try choice("me:secret@127.0.0.1:\(relay.port)")
                        let sink = RecordingSink()
                        let outcome = await pool.run(request, sink: sink)
                        #expect(outcome.result == .ok, "\(outcome.message)")
                        #expect(String(decoding: sink.body, as: UTF8.self) == "[]")
                        #expect(!sink.lines.contains { $0.contains("X-Proxy") })
                        #expect(outcome.proxyStatus == 200)
                        let asked = "connect localhost:\(port) "
                        #expect(relay.requests == [asked, asked + "me:secret"])

                        request.proxy = try choice("me:wrong@127.0.0.1:\(relay.port)")
                        let refused = await pool.run(request)
                        #expect(refused.result != .ok)
                        #expect(refused.proxyStatus == 407)
                        #expect(!refused.message.contains("wrong"))
                    }
                }
            }
        }
    }

    @Test(arguments: ["socks5", "socks5h"])
    func `a SOCKS5 proxy is signed in to`(scheme: String) async throws {
        try await withTemporaryFolder { folder in
            let server = try FaultServer.serving(file: Array("by socks".utf8))
            defer { server.stop() }
            try await withRelay(.socks5(login: "me:secret"), in: folder) { relay in
                try await withPool { pool in
                    // The h is for a host whose name the proxy looks up.
                    let host = scheme == "socks5h" ? "localhost" : "127.0.0.1"
                    let url = try URLReference("http://\(host):\(server.port)/f")
                    var request = TransferRequest(url: url)
                    request.proxy = try choice("\(scheme)://me:secret@127.0.0.1:\(relay.port)")
                    let sink = RecordingSink()
                    #expect(await pool.run(request, sink: sink).result == .ok)
                    #expect(sink.body == Array("by socks".utf8))
                    #expect(relay.requests == ["connect \(host):\(server.port) me:secret"])
                    #expect(await server.waitForRequest()["Authorization"] == nil)

                    request.proxy = try choice("\(scheme)://me:wrong@127.0.0.1:\(relay.port)")
                    #expect(await pool.run(request).result == .proxy)
                }
            }
        }
    }

    @Test func `FTP passes an HTTP proxy through a tunnel, and comes as FTP`() async throws {
        try await withTemporaryFolder { folder in
            try TestFile.write("by ftp", to: folder + "/f")
            try await withFTPServer(root: folder) { server in
                try await withRelay(.tunnel(login: nil), in: folder) { relay in
                    try await withPool { pool in
                        var request = TransferRequest(url: try URLReference(server.url("/f")))
                        request.proxy = try choice("127.0.0.1:\(relay.port)")
                        let sink = RecordingSink()
                        let outcome = await pool.run(request, sink: sink)
                        #expect(outcome.result == .ok, "\(outcome.message)")
                        #expect(sink.body == Array("by ftp".utf8))
                        #expect(sink.files.map(\.size) == [6])
                        // The control connection and that of the data.
                        #expect(relay.requests.count == 2)
                    }
                }
            }
        }
    }

    @Test func `an unusable proxy is no way, and a direct one is not taken`() async throws {
        let server = try FaultServer.serving(file: [1])
        defer { server.stop() }
        try await withPool { pool in
            var request = TransferRequest(url: try URLReference(server.url()))
            request.proxy = .unusable
            #expect(await pool.run(request).result == .badRequest)
            #expect(server.requests.isEmpty)
        }
    }

    private func choice(_ text: String) throws -> ProxyChoice {
        .through(try #require(ProxyServer(text)))
    }
}
