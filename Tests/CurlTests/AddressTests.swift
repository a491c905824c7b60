// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
import Testing
import iDownTesting

/// Which addresses a request may reach, and which family they are of.
@Suite(.timeLimit(.minutes(1)))
struct AddressTests {
    @Test func `a connection that stands already is asked about as well`() async throws {
        let server = try FaultServer.serving(file: [1])
        defer { server.stop() }
        try await withPool { pool in
            var request = TransferRequest(url: try URLReference(server.url()))
            #expect(await pool.run(request).result == .ok)
            request.admits = { !$0.isLoopback }
            let refused = await pool.run(request)
            #expect(refused.result != .ok)
            #expect(refused.wasRefusedAddress)
            #expect(server.requests.count == 1)
            request.admits = { $0.isLoopback }
            #expect(await pool.run(request).result == .ok)
        }
    }

    @Test func `what runs over an address that is gone is ended, and nothing else`() async throws {
        let isLetGo = FaultServer.Gate()
        let server = try FaultServer(
            script: .init { _ in
                [.head("200 OK", [("Content-Length", "2")]), .text("a"), .wait(for: isLetGo)]
                    + [.text("b")]
            }
        )
        defer { server.stop() }
        let here = try #require(SocketAddress.local)
        let local = try #require(SocketAddress("127.0.0.1"))
        #expect(here.contains(local))
        for addresses in [[], here] {
            try await withPool { pool in
                let sink = RecordingSink(at: 0)
                let url = try URLReference(server.url())
                let handle = pool.begin(TransferRequest(url: url), sink: sink)
                await sink.reachedPoint.waitUntilOpen()
                pool.endTransfers(cutOffFrom: addresses)
                if addresses.isEmpty {
                    #expect(await handle.outcome().result == .aborted)
                } else {
                    isLetGo.open()
                    #expect(await handle.outcome().result == .ok)
                }
            }
        }
    }

    @Test func `each address of a name is asked about`() async throws {
        let server = try FaultServer.serving(file: [1])
        defer { server.stop() }
        try await withPool { pool in
            let asked = Mutex<[SocketAddress]>([])
            let url = try URLReference("http://localhost:\(server.port)/")
            var request = TransferRequest(url: url)
            request.admits = { address in
                asked.withLock { $0.append(address) }
                return false
            }
            #expect(await pool.run(request).result == .couldNotConnect)
            let local = try #require(SocketAddress("127.0.0.1"))
            #expect(asked.withLock { $0.contains(local) })
        }
    }

    @Test func `nginx is reached by IPv6`() async throws {
        try await withTemporaryFolder { folder in
            try TestFile.write("six", to: folder + "/f")
            let port = try FreePort.find()
            try await withNginx(root: folder, extraConfig: "listen [::1]:\(port);") { _ in
                try await withPool { pool in
                    let sink = RecordingSink()
                    let url = try URLReference("http://[::1]:\(port)/f")
                    let outcome = await pool.run(.init(url: url), sink: sink)
                    #expect(outcome.result == .ok, "\(outcome.message)")
                    #expect(outcome.primaryAddress == "::1")
                    #expect(sink.body == Array("six".utf8))
                }
            }
        }
    }
}
