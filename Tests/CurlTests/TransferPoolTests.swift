// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownTesting

@Suite(.timeLimit(.minutes(5)))
struct TransferPoolTests {
    private let content = TestContent(seed: 1, count: 1_000_003)

    @Test func `a transfer brings the bytes of the file`() async throws {
        let server = try FaultServer.serving(ServedFile(content))
        defer { server.stop() }
        try await withPool { pool in
            let sink = RecordingSink()
            let outcome = await pool.run(.init(url: try URLReference(server.url("/f"))), sink: sink)
            #expect(outcome.result == .ok)
            #expect(outcome.message == "")
            #expect(outcome.status == 200)
            #expect(outcome.primaryAddress == "127.0.0.1")
            #expect(outcome.openedConnections == 1)
            #expect(sink.body == content.bytes)
            #expect(sink.lines.first == "HTTP/1.1 200 OK\r\n")
            #expect(sink.lines.last == "\r\n")
        }
    }

    @Test func `nginx serves a range`() async throws {
        try await withTemporaryFolder { folder in
            try content.write(toFile: folder + "/f")
            try await withNginx(root: folder) { nginx in
                try await withPool { pool in
                    let sink = RecordingSink()
                    let url = try URLReference(nginx.url("/f"))
                    var request = TransferRequest(url: url)
                    request.range = (5, 1000)
                    let outcome = await pool.run(request, sink: sink)
                    #expect(outcome.status == 206)
                    #expect(sink.body == content.bytes(in: 5..<1001))
                }
            }
        }
    }

    @Test func `1xx answers and trailers reach the sink`() async throws {
        let server = try FaultServer(
            script: .init { _ in
                [
                    .rawHead("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
                    .head("200 OK", [("Transfer-Encoding", "chunked"), ("Trailer", "X-Sum")]),
                    .chunk(Array("abc".utf8)), .chunk(Array("de".utf8)),
                    .lastChunk(trailers: [("X-Sum", "5")]),
                ]
            }
        )
        defer { server.stop() }
        try await withPool { pool in
            let sink = RecordingSink()
            let outcome = await pool.run(.init(url: try URLReference(server.url())), sink: sink)
            #expect(outcome.result == .ok)
            #expect(outcome.status == 200)
            #expect(sink.body == Array("abcde".utf8))
            #expect(
                sink.lines == [
                    "HTTP/1.1 103 Early Hints\r\n", "Link: </a>\r\n", "\r\n",
                    "HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\n", "Trailer: X-Sum\r\n",
                    "\r\n", "X-Sum: 5\r\n",
                ]
            )
        }
    }

    /// After a failure without an answer libcurl 7.88 keeps the receive buffer, and refuses
    /// another size for it.
    @Test(arguments: ["http://idown-test.invalid/f", "http://127.0.0.1:1/f"])
    func `a transfer that reached nobody leaves nothing to the next one`(url: String)
        async throws
    {
        let server = try FaultServer.serving(ServedFile(content))
        defer { server.stop() }
        try await withPool { pool in
            for _ in 1...2 {
                let lost = await pool.run(.init(url: try URLReference(url)))
                #expect([.couldNotResolveHost, .couldNotConnect].contains(lost.result))
            }
            let sink = RecordingSink()
            let outcome = await pool.run(.init(url: try URLReference(server.url())), sink: sink)
            #expect(outcome.result == .ok, "\(outcome.message)")
            #expect(sink.body == content.bytes)
        }
    }

    @Test func `a second transfer uses the connection of the first`() async throws {
        let server = try FaultServer.serving(ServedFile(content))
        defer { server.stop() }
        try await withPool { pool in
            let request = TransferRequest(url: try URLReference(server.url()))
            #expect(await pool.run(request).openedConnections == 1)
            #expect(await pool.run(request).openedConnections == 0)
            #expect(server.requests.map(\.connection) == [1, 1])
        }
    }

    @Test func `what a server sends too much is no answer to the next request`() async throws {
        let (isRead, isSent) = (FaultServer.Gate(), FaultServer.Gate())
        let answer = { @Sendable (text: String) -> [FaultServer.Step] in
            [.head("200 OK", [("Content-Length", "5")]), .text(text)]
        }
        let server = try FaultServer(
            script: .init { request in
                guard request.path == "/first" else { return answer("right") }
                return answer("first") + [.wait(for: isRead)] + answer("wrong") + [.open(isSent)]
            }
        )
        defer { server.stop() }
        try await withPool { pool in
            #expect(
                await pool.run(.init(url: try URLReference(server.url("/first")))).result == .ok
            )
            isRead.open()
            await isSent.waitUntilOpen()
            let sink = RecordingSink()
            let url = try URLReference(server.url("/second"))
            let outcome = await pool.run(.init(url: url), sink: sink)
            #expect(outcome.result == .ok, "\(outcome)")
            #expect(String(decoding: sink.body, as: UTF8.self) == "right")
            #expect(outcome.openedConnections == 1)
        }
    }

    @Test func `three hundred transfers run at once`() async throws {
        // Both ends of each are in this process, which may have no more than 1024 descriptors.
        let arrived = FaultServer.Gate()
        let server = try FaultServer(
            script: .init { request in
                // Nobody is answered before everybody has asked.
                if request.number == 300 { arrived.open() }
                return [.head("200 OK", [("Content-Length", "\(request.path.utf8.count)")])]
                    + [.wait(for: arrived), .text(request.path)]
            }
        )
        defer { server.stop() }
        try await withPool { pool in
            let transfers = try (1...300).map { number in
                let sink = RecordingSink()
                let url = try URLReference(server.url("/\(number)"))
                return (number, sink, pool.begin(.init(url: url), sink: sink))
            }
            for (number, sink, handle) in transfers {
                #expect(await handle.outcome().result == .ok)
                #expect(sink.body == Array("/\(number)".utf8))
            }
        }
    }

    @Test func `a pool with nothing to do does not wake up`() async throws {
        let server = try FaultServer.serving(ServedFile(content))
        defer { server.stop() }
        try await withPool { idle in
            _ = await idle.run(.init(url: try URLReference(server.url())))
            let before = idle.turns
            // Another pool's timeout of a second is the clock.
            let silent = try FaultServer(script: .init { _ in [.stall] })
            defer { silent.stop() }
            try await withPool { busy in
                let url = try URLReference(silent.url())
                var request = TransferRequest(url: url)
                request.silenceTimeout = .seconds(1)
                let start = ContinuousClock.now
                let outcome = await busy.run(request)
                #expect(outcome.result == .timedOut)
                #expect(.now - start >= .seconds(1))
            }
            // The turn that told the end of the transfer may not have been the last.
            #expect(idle.turns <= before + 2)
        }
    }

    @Test func `shutting down ends all transfers and refuses new ones`() async throws {
        let server = try FaultServer(script: .init { _ in [.head("200 OK"), .stall] })
        defer { server.stop() }
        let pool = try TransferPool()
        let request = TransferRequest(url: try URLReference(server.url()))
        let running = pool.begin(request, sink: RecordingSink())
        await server.waitForRequest()
        await pool.shutDown()
        #expect(await running.outcome().result == .aborted)
        #expect(await pool.run(request).result == .aborted)
        await pool.shutDown()
    }
}
