// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownTesting

/// HTTPS against a real nginx and an authority that only the request knows.
@Suite(.timeLimit(.minutes(2)))
struct TLSTests {
    private func withHost(
        _ content: TestContent,
        directives: String = "",
        _ body: (URLReference, TestCertificates) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try content.write(toFile: folder + "/f")
            let certificates = try await TestCertificates(in: folder)
            let port = try FreePort.find()
            let tls = """
                listen 127.0.0.1:\(port) ssl http2; ssl_certificate \(certificates.server);
                ssl_certificate_key \(certificates.server); \(directives)
                """
            try await withNginx(root: folder, extraConfig: tls) { _ in
                try await body(try URLReference("https://localhost:\(port)/f"), certificates)
            }
        }
    }

    @Test func `a host is held against the authorities that are named`() async throws {
        try await withHost(TestContent(seed: 31, count: 1000)) { url, certificates in
            try await withPool { pool in
                var request = TransferRequest(url: url)
                #expect(await pool.run(request).result == .peerVerification)
                request.certificates.file = certificates.authority
                #expect(await pool.run(request).result == .ok)
                request.certificates.file = certificates.authority + ".none"
                #expect(await pool.run(request).result == .badCertificateFile)
                // The certificate is for the name and for 127.0.0.1, not for 127.0.0.2.
                let other = "https://127.0.0.2:\(url.port ?? 0)/f"
                request.url = try URLReference(other)
                request.certificates.file = certificates.authority
                #expect(await pool.run(request).result != .ok)
            }
        }
    }

    @Test func `small files share one HTTP/2 connection`() async throws {
        let content = TestContent(seed: 32, count: 20_000)
        try await withHost(content) { url, certificates in
            try await withPool { pool in
                var request = TransferRequest(url: url)
                request.httpVersion = .http2
                request.certificates.file = certificates.authority
                let sinks = (0..<50).map { _ in RecordingSink() }
                let handles = sinks.map { pool.begin(request, sink: $0) }
                var opened = 0
                for handle in handles {
                    let outcome = await handle.outcome()
                    #expect(outcome.result == .ok, "\(outcome.message)")
                    opened += outcome.openedConnections
                }
                #expect(opened == 1)
                #expect(sinks.allSatisfy { $0.body == content.bytes })
                #expect(sinks.allSatisfy { $0.lines.first == "HTTP/2 200 \r\n" })
            }
        }
    }

    /// The server says GOAWAY after each second stream (RFC 9113 section 6.8).
    @Test func `an HTTP/2 connection that its server ends leaves nothing to the next transfer`()
        async throws
    {
        let content = TestContent(seed: 34, count: 200_000)
        try await withHost(content, directives: "keepalive_requests 2;") { url, certificates in
            try await withPool { pool in
                var request = TransferRequest(url: url)
                request.httpVersion = .http2
                request.certificates.file = certificates.authority
                for round in 1...8 {
                    let sinks = (0..<3).map { _ in RecordingSink() }
                    let handles = sinks.map { pool.begin(request, sink: $0) }
                    for handle in handles {
                        let outcome = await handle.outcome()
                        #expect(outcome.result == .ok, "round \(round): \(outcome.message)")
                    }
                    #expect(sinks.allSatisfy { $0.body == content.bytes })
                }
            }
        }
    }

    /// libcurl takes a busy HTTP/1.1 connection for one that can be shared, where the host has
    /// spoken HTTP/2 since.
    @Test func `no request goes over a connection that another one's answer comes on`()
        async throws
    {
        let content = TestContent(seed: 35, count: 24 << 20)
        try await withHost(content) { url, certificates in
            try await withPool { pool in
                var request = TransferRequest(url: url)
                request.range = (0, nil)
                request.certificates.file = certificates.authority
                let busy = RecordingSink(at: 1 << 20, .pause)
                let handle = pool.begin(request, sink: busy)
                await busy.reachedPoint.waitUntilOpen()
                request.range = nil
                request.httpVersion = .http2
                for _ in 0..<3 {
                    let sink = RecordingSink()
                    let outcome = await pool.run(request, sink: sink)
                    #expect(outcome.result == .ok, "\(outcome.message)")
                    #expect(sink.lines.first == "HTTP/2 200 \r\n")
                    #expect(sink.body == content.bytes)
                }
                handle.resume()
                #expect(await handle.outcome().result == .ok)
                #expect(busy.body == content.bytes)
            }
        }
    }

    @Test func `a paused HTTP/2 stream goes on with every byte`() async throws {
        let content = TestContent(seed: 33, count: 24 << 20)
        try await withHost(content) { url, certificates in
            try await withPool { pool in
                var request = TransferRequest(url: url)
                request.httpVersion = .http2
                request.certificates.file = certificates.authority
                let sink = RecordingSink(at: 1 << 20, .pause)
                let handle = pool.begin(request, sink: sink)
                await sink.reachedPoint.waitUntilOpen()
                handle.resume()
                #expect(await handle.outcome().result == .ok)
                #expect(sink.body == content.bytes)
            }
        }
    }

    @Test func `a range asks on HTTP/1.1 although HTTP/2 is there`() async throws {
        let content = TestContent(seed: 34, count: 20_000)
        try await withHost(content) { url, certificates in
            try await withPool { pool in
                var request = TransferRequest(url: url)
                request.range = (5, 9)
                request.certificates.file = certificates.authority
                let sink = RecordingSink()
                let outcome = await pool.run(request, sink: sink)
                #expect(outcome.result == .ok)
                #expect(sink.lines.first?.hasPrefix("HTTP/1.1 206") == true)
                #expect(sink.body == content.bytes(in: 5..<10))
            }
        }
    }
}
