// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
import Testing
import iDownTesting

@Suite(.timeLimit(.minutes(5)))
struct TransferRequestTests {
    /// What a server sees of a request.
    private func fields(
        of request: (URLReference) -> TransferRequest,
        url: (FaultServer) -> String = { $0.url("/a?b") },
        asksForLogin: Bool = false
    ) async throws -> RecordedRequest {
        let file = ServedFile(TestContent(Array("0123456789".utf8)))
        let answer = { @Sendable in file.answer(to: $0) }
        let server = try FaultServer(script: .init(asksForLogin ? guarded(answer) : answer))
        defer { server.stop() }
        try await withPool { pool in
            let outcome = await pool.run(request(try URLReference(url(server))))
            #expect(outcome.result == .ok)
        }
        return try #require(server.requests.last)
    }

    @Test func `a plain request asks for the bytes as they are`() async throws {
        let seen = try await fields { TransferRequest(url: $0) }
        #expect(seen.method == "GET")
        #expect(seen.target == "/a?b")
        #expect(seen["Accept-Encoding"] == "identity")
        #expect(seen["User-Agent"] == nil)
        #expect(seen["Range"] == nil)
        #expect(seen["Authorization"] == nil)
    }

    @Test func `fields, range and agent go out`() async throws {
        let seen = try await fields { url in
            var request = TransferRequest(url: url, userAgent: "test/1")
            request.headers = [
                (name: "If-Range", value: "\"v1\""), (name: "X-E", value: ""),
            ]
            request.range = (2, nil)
            return request
        }
        #expect(seen["If-Range"] == "\"v1\"")
        #expect(seen["X-E"] == "")
        #expect(seen["Range"] == "bytes=2-")
        #expect(seen["User-Agent"] == "test/1")
    }

    @Test func `the login comes from the URL unless another is given`() async throws {
        let withLogin = { (server: FaultServer) in "http://me:p%40ss@127.0.0.1:\(server.port)/" }
        let fromURL = try await fields(
            of: { TransferRequest(url: $0) },
            url: withLogin,
            asksForLogin: true
        )
        #expect(fromURL["Authorization"] == "Basic bWU6cEBzcw==")
        let given = try await fields(
            of: { url in
                var request = TransferRequest(url: url)
                request.credentials = .init(user: "a", password: "b")
                return request
            },
            url: withLogin,
            asksForLogin: true
        )
        #expect(given["Authorization"] == "Basic YTpi")
    }

    @Test func `one request leaves nothing behind for the next`() async throws {
        let server = try FaultServer.serving(file: Array("0123456789".utf8))
        defer { server.stop() }
        try await withPool { pool in
            let url = try URLReference(server.url())
            var full = TransferRequest(url: url, userAgent: "test/1")
            full.headers = [(name: "Cookie", value: "secret")]
            full.range = (0, 1)
            full.credentials = .init(user: "a", password: "b")
            _ = await pool.run(full)
            _ = await pool.run(.init(url: url))
        }
        let names = try #require(server.requests.last).fields.map(\.name)
        #expect(names == ["Host", "Accept", "Accept-Encoding"])
    }

    @Test(arguments: [
        TransferRequestChange.header("X\r\nY", "1"), .header("X", "1\r\nY: 2"), .header("", "1"),
        .header("X Y", "1"), .agent("a\nb"),
    ])
    func `what cannot be sent is refused`(change: TransferRequestChange) async throws {
        let server = try FaultServer.serving(file: [])
        defer { server.stop() }
        try await withPool { pool in
            var request = TransferRequest(url: try URLReference(server.url()))
            switch change {
            case .header(let name, let value): request.headers = [(name: name, value: value)]
            case .agent(let text): request.userAgent = text
            }
            let outcome = await pool.run(request)
            #expect(outcome.result == .badRequest)
            #expect(outcome.message != "")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `an address that is not admitted is not connected to`() async throws {
        let server = try FaultServer.serving(file: [1])
        defer { server.stop() }
        try await withPool { pool in
            let url = try URLReference(server.url())
            let asked = Mutex<[SocketAddress]>([])
            var request = TransferRequest(url: url)
            request.admits = { address in
                asked.withLock { $0.append(address) }
                return !address.isLoopback
            }
            let outcome = await pool.run(request)
            #expect(outcome.result == .couldNotConnect)
            #expect(outcome.wasRefusedAddress)
            let local = try #require(SocketAddress("127.0.0.1"))
            #expect(asked.withLock { $0 } == [local])
            #expect(server.requests.isEmpty)
        }
    }
}

/// One thing in a request that cannot be sent.
enum TransferRequestChange: Sendable {
    case header(String, String)
    case agent(String)
}
