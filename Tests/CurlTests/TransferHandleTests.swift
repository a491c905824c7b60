// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownTesting

@Suite(.timeLimit(.minutes(5)))
struct TransferHandleTests {
    private let content = TestContent(seed: 2, count: 3_000_000)

    @Test(arguments: [0, 1, 100_000, 2_950_000])
    func `a pause loses and repeats no byte`(offset: Int) async throws {
        let server = try FaultServer.serving(ServedFile(content))
        defer { server.stop() }
        try await withPool { pool in
            let sink = RecordingSink(at: offset, .pause)
            let request = TransferRequest(url: try URLReference(server.url()))
            let handle = pool.begin(request, sink: sink)
            await sink.reachedPoint.waitUntilOpen()
            handle.resume()
            let outcome = await handle.outcome()
            #expect(outcome.result == .ok)
            #expect(sink.body == content.bytes)
        }
    }

    @Test func `resuming what is not paused changes nothing`() async throws {
        let server = try FaultServer.serving(ServedFile(content))
        defer { server.stop() }
        try await withPool { pool in
            let sink = RecordingSink()
            let request = TransferRequest(url: try URLReference(server.url()))
            let handle = pool.begin(request, sink: sink)
            for _ in 1...50 { handle.resume() }
            #expect(await handle.outcome().result == .ok)
            handle.resume()
            handle.cancel()
            #expect(await handle.outcome().result == .ok)
            #expect(sink.body == content.bytes)
        }
    }

    @Test func `a transfer is cancelled in mid-body`() async throws {
        var file = ServedFile(content)
        let hold = ServedFile.Hold(afterBytes: 1_000_000)
        file.hold = hold
        let server = try FaultServer.serving(file)
        defer { server.stop() }
        try await withPool { pool in
            let sink = RecordingSink(at: 0)
            let request = TransferRequest(url: try URLReference(server.url()))
            let handle = pool.begin(request, sink: sink)
            await hold.reached.waitUntilOpen()
            await sink.reachedPoint.waitUntilOpen()
            handle.cancel()
            let outcome = await handle.outcome()
            #expect(outcome.result == .aborted)
            #expect(outcome.status == 200)
            #expect(content.bytes.starts(with: sink.body))
        }
    }

    @Test func `a paused transfer can be cancelled`() async throws {
        let server = try FaultServer.serving(ServedFile(content))
        defer { server.stop() }
        try await withPool { pool in
            let sink = RecordingSink(at: 10, .pause)
            let request = TransferRequest(url: try URLReference(server.url()))
            let handle = pool.begin(request, sink: sink)
            await sink.reachedPoint.waitUntilOpen()
            handle.cancel()
            #expect(await handle.outcome().result == .aborted)
        }
    }

    @Test func `cancelling the task that waits cancels the transfer`() async throws {
        let server = try FaultServer(script: .init { _ in [.stall] })
        defer { server.stop() }
        try await withPool { pool in
            let request = TransferRequest(url: try URLReference(server.url()))
            let waiting = Task { await pool.run(request) }
            await server.waitForRequest()
            waiting.cancel()
            #expect(await waiting.value.result == .aborted)
        }
    }

    @Test func `paused time does not count as silence`() async throws {
        let server = try FaultServer.serving(ServedFile(content))
        let silent = try FaultServer(script: .init { _ in [.stall] })
        defer {
            server.stop()
            silent.stop()
        }
        try await withPool { pool in
            let sink = RecordingSink(at: 1_000_000, .pause)
            let url = try URLReference(server.url())
            var request = TransferRequest(url: url)
            request.silenceTimeout = .seconds(2)
            let handle = pool.begin(request, sink: sink)
            await sink.reachedPoint.waitUntilOpen()
            // Two silent transfers, one after the other, are the clock.
            var stalling = TransferRequest(url: try URLReference(silent.url()))
            stalling.silenceTimeout = .seconds(2)
            for _ in 1...2 { #expect(await pool.run(stalling).result == .timedOut) }
            handle.resume()
            #expect(await handle.outcome().result == .ok)
            #expect(sink.body == content.bytes)
        }
    }
}
