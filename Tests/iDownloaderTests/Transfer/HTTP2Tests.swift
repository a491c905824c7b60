// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import Synchronization
import Testing
import iDownTesting
import iDownloader

@testable import iDownState

/// Hosts that speak HTTP/2: whole files share a connection, and ranges have their own.
@Suite(.timeLimit(.minutes(2))) struct HTTP2Tests {
    /// Runs `body` with a site and the URL of a host that speaks HTTP/2 and serves `root`.
    ///
    /// - Returns: the host's log, with a line of protocol, status, range, path and connection for
    ///   each request.
    private func atHost(
        serving root: String,
        directives: String = "",
        faults: FaultPlan? = nil,
        connections: Int = 1,
        checkpointInterval: Duration = .milliseconds(20),
        _ body: (Site, _ url: String) async throws -> Void
    ) async throws -> String {
        let certificates = try await TestCertificates(in: root)
        let port = try FreePort.find()
        let tls = """
            listen 127.0.0.1:\(port) ssl http2; ssl_certificate \(certificates.server);
            ssl_certificate_key \(certificates.server); access_log \(root)/access.log short;
            """
        var network = NetworkConfiguration()
        network.certificates.file = certificates.authority
        let format = "$server_protocol $status $http_range $uri $connection"
        try await withNginx(
            root: root,
            locationDirectives: directives,
            extraConfig: tls,
            httpDirectives: "log_format short '\(format)';"
        ) { _ in
            try await withSite(
                faults: faults,
                connections: connections,
                network: network,
                checkpointInterval: checkpointInterval
            ) { site in try await body(site, "https://localhost:\(port)") }
        }
        // It says what it did when a request is over, and all are now.
        return try TestFile.text(of: root + "/access.log")
    }

    /// A sparse file that takes long.
    private static func putSlow(in root: String, mebibytes: Int) {
        putFile(root + "/slow.bin")
        #expect(truncate(root + "/slow.bin", mebibytes << 20) == 0)
    }

    /// Interrupts a download by HTTPS, goes on with four connections, and gives the log's lines.
    private func requests(directives: String = "") async throws -> [Substring] {
        try await withTemporaryFolder { root in
            try Large.content.write(toFile: root + "/file.bin")
            let log = try await atHost(
                serving: root,
                directives: "limit_rate 4m; \(directives)",
                checkpointInterval: .milliseconds(1)
            ) { site, url in
                let journal = try site.task(url + "/file.bin")
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
            return log.split(separator: "\n")
        }
    }

    @Test func `a download goes on by connections of its own`() async throws {
        let log = try await requests()
        #expect(log.contains { $0.hasPrefix("HTTP/2.0 200 - ") }, "\(log)")
        let parts = log.filter { $0.contains(" 206 ") }
        #expect(parts.count > 1 && parts.allSatisfy { $0.hasPrefix("HTTP/1.1 ") }, "\(log)")
    }

    /// A limit of 10 kB/s from the start, or one that comes when the download is under way.
    @Test(arguments: [false, true])
    func `a limited download does not hold up the others of its host`(isLate: Bool) async throws {
        try await withTemporaryFolder { root in
            try Large.content.write(toFile: root + "/file.bin")
            Self.putSlow(in: root, mebibytes: 256)
            let log = try await atHost(serving: root) { site, url in
                let id = try #require(TaskID(rawValue: 1))
                let slow = RecordingJournal(
                    TaskRecord(
                        id: id,
                        request: TaskRequest(url: url + "/slow.bin", directory: site.folder),
                        createdAt: RecordingJournal.now,
                        speedLimit: isLate ? 0 : 10_000
                    )
                )
                let transfer = try site.start(slow)
                if isLate {
                    try await within("the first part") {
                        while transfer.live.bytes < 1 << 20 { await Task.yield() }
                    }
                }
                site.engine.setSpeedLimit(of: slow.record.id, to: 10_000)
                try await within("the first bytes") {
                    while transfer.live.bytes == 0 { await Task.yield() }
                }
                let before = transfer.live.bytes
                for id in 2...3 as ClosedRange<Int64> {
                    let other = try site.task(url + "/file.bin", id: id)
                    try await site.run(other)
                    #expect(other.record.state == .completed, "\(other.record)")
                    #expect(other.record.tries == 0)
                }
                // No more has come of the limited one than in seven seconds: 16 MB of the others
                // take less than one and their syncs, and on a connection with the limited one
                // eight.
                #expect(transfer.live.bytes - before < 70_000)
                #expect(slow.record.tries == 0)
                transfer.stop()
                await transfer.ended()
            }
            let lines = log.split(separator: "\n")
            for (version, path) in [("HTTP/2.0", " /file.bin "), ("HTTP/1.1", " /slow.bin ")] {
                let isThere = lines.contains { $0.hasPrefix(version) && $0.contains(path) }
                #expect(isThere, "\(log)")
            }
        }
    }

    /// Each pause of its stream costs what has come for it a copy, on the thread of all hosts.
    @Test func `a download on a slow disk does not hold up others of its host`() async throws {
        try await withTemporaryFolder { root in
            Self.putSlow(in: root, mebibytes: 64)
            let log = try await atHost(
                serving: root,
                directives: "limit_rate 16m;",
                // It takes 30 ms for each 256 KiB: a line on a busy machine is still faster.
                faults: FaultPlan(of: "pwrite") { _ in usleep(30_000) },
                connections: 4
            ) { site, url in
                let journal = try site.task(url + "/slow.bin")
                let isCut = Mutex(false)
                journal.before { event, journal in
                    guard case .completed = event else { return true }
                    let ends = site.engine.history(of: journal.record.id).filter {
                        $0.what == .ended && $0.connection == 1
                    }
                    isCut.withLock { $0 = ends.contains { $0.details["cut"] == .flag(true) } }
                    return true
                }
                try await site.run(journal)
                #expect(journal.record.state == .completed, "\(journal.record)")
                #expect(journal.record.tries == 0)
                // The first one; those that joined have connections of their own.
                let wasCut = isCut.withLock(\.self)
                #expect(wasCut)
            }
            #expect(log.contains("HTTP/2.0 200 - /slow.bin "))
        }
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
