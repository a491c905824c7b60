// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import Testing
import iDownTesting

@Suite(.timeLimit(.minutes(5)))
struct TransferOutcomeTests {
    /// Runs a plain GET against a script.
    private func outcome(
        of steps: [FaultServer.Step],
        sink: RecordingSink = RecordingSink()
    ) async throws -> TransferOutcome {
        let server = try FaultServer(script: .init { _ in steps })
        defer { server.stop() }
        return try await withPool { pool in
            await pool.run(.init(url: try URLReference(server.url())), sink: sink)
        }
    }

    @Test func `a closed port is a refused connection`() async throws {
        let server = try FaultServer(script: .init { _ in [] })
        server.stop()
        try await withPool { pool in
            let outcome = await pool.run(.init(url: try URLReference(server.url())))
            #expect(outcome.result == .couldNotConnect)
            #expect(outcome.osError == ECONNREFUSED)
            #expect(outcome.status == 0)
            #expect(outcome.message.contains("127.0.0.1"))
        }
    }

    @Test func `a body shorter than its length is a partial file`() async throws {
        let sink = RecordingSink()
        let steps: [FaultServer.Step] = [
            .head("200 OK", [("Content-Length", "10")]), .text("1234567"), .close,
        ]
        let outcome = try await outcome(of: steps, sink: sink)
        #expect(outcome.result == .partialFile)
        #expect(sink.body == Array("1234567".utf8))
    }

    @Test func `a body without a length ends with the connection`() async throws {
        let sink = RecordingSink()
        let outcome = try await outcome(of: [.head("200 OK"), .text("abc"), .close], sink: sink)
        #expect(outcome.result == .ok)
        #expect(sink.body == Array("abc".utf8))
    }

    @Test func `a reset in mid-body is a failure to receive`() async throws {
        let sink = RecordingSink()
        let steps: [FaultServer.Step] = [
            .head("200 OK", [("Content-Length", "10")]), .text("1234567"), .reset,
        ]
        let outcome = try await outcome(of: steps, sink: sink)
        #expect(outcome.result == .receiveError)
        #expect(outcome.osError == ECONNRESET)
    }

    @Test func `a server that says nothing gave nothing`() async throws {
        #expect(try await outcome(of: [.close]).result == .gotNothing)
    }

    @Test func `HTTP 0.9 is refused`() async throws {
        let sink = RecordingSink()
        let outcome = try await outcome(of: [.text("<html>"), .close], sink: sink)
        #expect(outcome.result == .unsupportedProtocol)
        #expect(sink.body.isEmpty)
    }

    @Test func `endless headers come to an end`() async throws {
        let line = Array("X-A: \(String(repeating: "b", count: 1000))\r\n".utf8)
        let steps: [FaultServer.Step] = [.rawHead("HTTP/1.1 200 OK\r\n"), .sendForever(line)]
        let outcome = try await outcome(of: steps)
        #expect(outcome.result != .ok)
    }

    @Test func `errors, redirects and compressed bodies are the caller's to judge`() async throws {
        let fields = [
            ("Location", "http://127.0.0.1:1/"), ("Content-Encoding", "gzip"),
            ("Content-Length", "3"),
        ]
        for status in ["302 Found", "404 Not Found", "416 Range Not Satisfiable", "503 Busy"] {
            let sink = RecordingSink()
            let steps: [FaultServer.Step] = [.head(status, fields), .text("abc")]
            let outcome = try await outcome(of: steps, sink: sink)
            #expect(outcome.result == .ok)
            #expect(outcome.status == Int(status.prefix(3)))
            #expect(sink.body == Array("abc".utf8))
        }
    }

    @Test func `a sink ends its transfer by its verdict`() async throws {
        let steps: [FaultServer.Step] = [.head("200 OK", [("Content-Length", "3")]), .text("abc")]
        let header = RecordingSink(takesHeaders: false)
        #expect(try await outcome(of: steps, sink: header).result == .writeError)
        #expect(header.lines.count == 1)
        let body = RecordingSink(at: 0, .abort)
        #expect(try await outcome(of: steps, sink: body).result == .writeError)
        #expect(body.body == [])
    }

    @Test func `silence before the first byte and in mid-body times out`() async throws {
        let scripts: [[FaultServer.Step]] = [
            [.stall], [.head("200 OK", [("Content-Length", "9")]), .text("abc"), .stall],
        ]
        let server = try FaultServer(script: .init { scripts[$0.path == "/0" ? 0 : 1] })
        defer { server.stop() }
        try await withPool { pool in
            let handles = try scripts.indices.map { index in
                let url = try URLReference(server.url("/\(index)"))
                var request = TransferRequest(url: url)
                request.silenceTimeout = .milliseconds(900)
                return pool.begin(request, sink: RecordingSink())
            }
            for handle in handles { #expect(await handle.outcome().result == .timedOut) }
        }
    }

    @Test func `a host that does not answer the handshake times out`() async throws {
        let host = try MuteHost()
        defer { host.close() }
        try await withPool { pool in
            let url = try URLReference("http://127.0.0.1:\(host.port)/")
            var request = TransferRequest(url: url)
            request.connectTimeout = .milliseconds(100)
            let outcome = await pool.run(request)
            #expect(outcome.result == .timedOut)
            #expect(outcome.firstByteTime == .zero)
        }
    }

    @Test func `no message holds a login`() async throws {
        let text = "x http://u:p@host/ and https://a@b@c?q //plain/@path\r\n\u{7}"
        #expect(
            TransferOutcome.presentable(text) == "x http://host/ and https://c?q //plain/@path   "
        )
        try await withPool { pool in
            let outcome = await pool.run(.init(url: try URLReference("http://me:word@127.0.0.1:1")))
            #expect(outcome.result == .couldNotConnect)
            #expect(!outcome.message.contains("word"))
        }
    }
}

/// A port whose queue of connections is full: further handshakes are not answered.
private struct MuteHost {
    let port: UInt16
    private let sockets: [Int32]

    init() throws {
        let stream = Int32(SOCK_STREAM.rawValue)
        let listener = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var sockets = [listener]
        withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                bind(listener, pointer.baseAddress, length)
                listen(listener, 0)
                getsockname(listener, pointer.baseAddress, &length)
                // A queue of length 0 takes one.
                let filler = socket(AF_INET, stream, 0)
                connect(filler, pointer.baseAddress, length)
                sockets.append(filler)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        self.sockets = sockets
    }

    func close() { for socket in sockets { Glibc.close(socket) } }
}
