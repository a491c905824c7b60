// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting
import iDownloader

/// Servers that say nothing, or nothing more.
@Suite(.timeLimit(.minutes(2))) struct TimeoutTests {
    private static var impatient: NetworkConfiguration {
        var network = NetworkConfiguration()
        network.silenceTimeout = .seconds(1)
        return network
    }

    @Test func `a handshake that nobody answers ends, and is tried again`() async throws {
        var network = Self.impatient
        // Too short for the others: on a busy machine a connection may take as long.
        network.connectTimeout = .milliseconds(300)
        try await withServer({ _ in [.stall] }) { server in
            try await withSite(network: network) { site in
                let journal = try await site.download("https://127.0.0.1:\(server.port)/f")
                expectFailure(.networkTimeout, isTransient: true, site, journal)
                let message = journal.record.failure?.message ?? ""
                #expect(message.hasPrefix("The server did not answer in time ("), "\(message)")
            }
        }
    }

    @Test func `an answer that does not come is a timeout`() async throws {
        try await withServer({ _ in [.stall] }) { server in
            try await withSite(network: Self.impatient) { site in
                let journal = try await site.download(server.url("/f"))
                expectFailure(.networkTimeout, isTransient: true, site, journal)
                let message = journal.record.failure?.message ?? ""
                #expect(message.hasPrefix("The server did not answer in time ("), "\(message)")
            }
        }
    }

    @Test func `a body that stands still is a stall, and what came of it is kept`() async throws {
        let fields = [("Content-Length", "100"), ("ETag", "\"v1\"")]
        try await withServer({ _ in [.head("200 OK", fields), .text("hello"), .stall] }) { server in
            try await withSite(network: Self.impatient) { site in
                let journal = try await site.download(server.url("/f"))
                expectFailure(.networkStalled, isTransient: true, site, journal)
                let message = journal.record.failure?.message ?? ""
                #expect(message.hasPrefix("The server stopped sending ("), "\(message)")
                #expect(journal.record.segments.byteCount == 5)
            }
        }
    }
}
