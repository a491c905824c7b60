// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownState
import iDownTesting
import iDownloader

/// Hosts that speak HTTP/2: whole files share a connection, and ranges have their own.
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
                locationDirectives: "limit_rate 4m; \(directives)",
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

    @Test func `a download goes on by connections of its own`() async throws {
        let log = try await requests()
        #expect(log.contains("HTTP/2.0 200 -"), "\(log)")
        let parts = log.filter { $0.contains(" 206 ") }
        #expect(parts.count > 1 && parts.allSatisfy { $0.hasPrefix("HTTP/1.1 ") }, "\(log)")
    }

    /// It hangs up on whoever speaks anything else, or says what it wants.
    @Test(arguments: [444, 426, 505])
    func `a download goes on at a host that speaks nothing but HTTP/2`(refusal: Int) async throws {
        let log = try await requests(
            directives: "if ($server_protocol != HTTP/2.0) { return \(refusal); }"
        )
        let served = log.filter { !$0.contains(" \(refusal) ") }
        #expect(served.contains { $0.contains(" 206 ") }, "\(log)")
        #expect(served.allSatisfy { $0.hasPrefix("HTTP/2.0 ") }, "\(log)")
        // It is tried once, and nobody joins.
        #expect(log.count == served.count + 1, "\(log)")
    }
}
