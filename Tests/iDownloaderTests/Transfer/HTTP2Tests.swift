// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
import Testing
import iDownState
import iDownTesting
import iDownloader

/// A network on which nothing comes through but requests for a whole file.
private final class NarrowNetwork: TransferDriver {
    private let pool: TransferPool
    private let failure: CurlCode
    private let count = Atomic<Int>(0)

    init(_ pool: TransferPool, failure: CurlCode) {
        self.pool = pool
        self.failure = failure
    }

    /// How many requests did not come through.
    var failures: Int { count.load(ordering: .relaxed) }

    func begin(_ request: TransferRequest, sink: any TransferSink) -> TransferHandle {
        guard request.range != nil else { return pool.begin(request, sink: sink) }
        count.add(1, ordering: .relaxed)
        let handle = TransferHandle(driver: self)
        handle.settle(TransferOutcome(failure, "simulated"))
        return handle
    }

    func resume(_ handle: TransferHandle) { pool.resume(handle) }

    func cancel(_ handle: TransferHandle) { pool.cancel(handle) }
}

/// Hosts that speak HTTP/2: first connections do as well, and those that join them do not.
@Suite(.timeLimit(.minutes(2))) struct HTTP2Tests {
    /// Interrupts a download by HTTPS, goes on with four connections, and gives a line of version,
    /// status and range for each request that nginx has seen.
    private func requests(directives: String = "") async throws -> [Substring] {
        try await withTemporaryFolder { root in
            try Large.content.write(toFile: root + "/file.bin")
            let certificates = try await TestCertificates(in: root)
            let port = try FreePort.find()
            let tls = """
                listen 127.0.0.1:\(port) ssl http2; ssl_certificate \(certificates.server);
                ssl_certificate_key \(certificates.server); access_log \(root)/access.log short;
                """
            var network = NetworkConfiguration()
            network.certificates.file = certificates.authority
            try await withNginx(
                root: root,
                locationDirectives: "limit_rate 1m; \(directives)",
                extraConfig: tls,
                httpDirectives: "log_format short '$server_protocol $status $http_range';"
            ) { _ in
                try await withSite(
                    network: network,
                    checkpointInterval: .milliseconds(1)
                ) { site in
                    let journal = try site.task("https://localhost:\(port)/file.bin")
                    let first = try site.start(journal)
                    await journal.waitUntil { !$0.segments.isEmpty }
                    try journal.apply(.pause)
                    first.stop()
                    await first.ended()
                    let second = try site.start(journal)
                    second.limitConnections(to: 4)
                    await second.ended()
                    expectComplete(Large.content, site, journal)
                    #expect(journal.record.tries == 0)
                }
            }
            // It says what it did when a request is over, and all are now.
            return try TestFile.text(of: root + "/access.log").split(separator: "\n")
        }
    }

    @Test func `a download goes on by HTTP/2, and others join it by HTTP/1.1`() async throws {
        let log = try await requests()
        #expect(log.first == "HTTP/2.0 200 -", "\(log)")
        let goesOn = log.contains { $0.hasPrefix("HTTP/2.0 206 bytes=") && $0.hasSuffix("-") }
        #expect(goesOn, "\(log)")
        let joined = log.filter { $0.contains(" 206 ") && !$0.hasSuffix("-") }
        #expect(!joined.isEmpty && joined.allSatisfy { $0.hasPrefix("HTTP/1.1 ") }, "\(log)")
    }

    /// It hangs up on whoever speaks anything else.
    @Test func `a download goes on at a host that speaks nothing but HTTP/2`() async throws {
        let log = try await requests(
            directives: "if ($server_protocol != HTTP/2.0) { return 444; }"
        )
        let served = log.filter { !$0.contains(" 444 ") }
        #expect(served.contains { $0.contains(" 206 ") }, "\(log)")
        #expect(served.allSatisfy { $0.hasPrefix("HTTP/2.0 ") }, "\(log)")
        // They are tried, and not again and again.
        #expect((1...16).contains(log.count - served.count), "\(log)")
    }

    @Test(arguments: [CurlCode.tlsConnect, .unsupportedProtocol, .gotNothing])
    func `a host that only first connections come through to gets no others`(
        failure: CurlCode
    ) async throws {
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let held = Large.file.with { $0.hold = hold }
        let pool = try TransferPool()
        let network = NarrowNetwork(pool, failure: failure)
        let engine = Engine(pool: network, userAgent: "idown-test/1")
        try await withServer({ held.answer(to: $0) }) { server in
            try await withTemporaryFolder { folder in
                let site = Site(folder: folder, engine: engine)
                let journal = try site.task(server.url("/file.bin")) { $0.connections = 4 }
                let transfer = try site.start(journal)
                while network.failures == 0 || transfer.live.connections > 1 {
                    await Task.yield()
                }
                hold.until.open()
                await transfer.ended()
                expectComplete(Large.content, site, journal)
                #expect(journal.record.tries == 0)
                #expect(engine.takeHostNews()?.map(\.limit) == [1])
            }
        }
        await pool.shutDown()
    }
}
