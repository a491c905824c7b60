// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import iDownState
import iDownTesting
import iDownloader

/// Downloads that several connections bring.
@Suite(.timeLimit(.minutes(2))) struct TransferPlanningTests {
    @Test func `a known number of connections shares the file`() async throws {
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let held = Large.file.with { $0.hold = hold }
        try await withServer({ held.answer(to: $0) }) { server in
            try await withSite(connections: 1) { site in
                let journal = try site.task(server.url("/file.bin")) { $0.connections = 4 }
                let transfer = try site.start(journal)
                await server.waitForRequest(count: 4)
                #expect(transfer.live.connections == 4)
                let requests = server.requests
                #expect(requests[0]["Range"] == nil)
                for request in requests.dropFirst() {
                    #expect(request["If-Range"] == "\"v1\"")
                    let range = try #require(request.range(of: Large.content.count))
                    #expect(range.count > 1 << 20)
                    #expect(request["Range"]?.hasSuffix("-") == false)
                }
                hold.until.open()
                await transfer.ended()
                expectComplete(Large.content, site, journal)
                #expect(journal.record.integrity == .validators)
                #expect(transfer.live.bytes == Large.content.count)
            }
        }
    }

    @Test func `a small file has one connection, whatever is allowed`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite(connections: 8) { site in
                let journal = try await site.download(server.url("/file.bin")) {
                    $0.connections = 8
                }
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func `where nothing is known, more join while more is of use`() async throws {
        let slow = Large.file.with { $0.bytesPerSecond = 800_000 }
        try await withServer({ slow.answer(to: $0) }) { server in
            try await withSite(connections: 8) { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(Large.content, site, journal)
                #expect(server.requests.count > 2)
            }
        }
    }

    @Test func `a ceiling of one is kept`() async throws {
        let slow = Large.file.with { $0.bytesPerSecond = 8_000_000 }
        try await withServer({ slow.answer(to: $0) }) { server in
            try await withSite(connections: 8) { site in
                let journal = try await site.download(server.url("/file.bin")) {
                    $0.connections = 1
                }
                expectComplete(Large.content, site, journal)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func `a ceiling that rises or falls is heeded by what runs`() async throws {
        try await withServer({ Large.file.answer(to: $0) }) { server in
            try await withSite(connections: 3) { site in
                // So low that it is not over before the end of this.
                site.engine.setSpeedLimit(20_000)
                let journal = try site.task(server.url("/file.bin")) { $0.connections = 1 }
                let transfer = try site.start(journal)
                try await within("the first bytes") {
                    while transfer.live.bytes == 0 { await Task.yield() }
                }
                for count in [4, 2, 5, 1, 3] {
                    transfer.limitConnections(to: count)
                    try await within("\(count) connections") {
                        while transfer.live.connections != count { await Task.yield() }
                    }
                }
                // The engine's own ceiling, which may change as well.
                transfer.limitConnections(to: nil)
                for count in [2, 1] {
                    site.engine.connectionsPerDownload = count
                    try await within("\(count) connections") {
                        while transfer.live.connections != count { await Task.yield() }
                    }
                }
                site.engine.setSpeedLimit(0)
                await transfer.ended()
                expectComplete(Large.content, site, journal)
            }
        }
    }

    // MARK: Connections that are slow or break

    @Test(arguments: [1, 2, 3, 4])
    func `one slow connection of four does not hold up the file`(slow: Int) async throws {
        try await withServer({ request in
            Large.file.with { $0.bytesPerSecond = request.number == slow ? 20_000 : 2_000_000 }
                .answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin")) { $0.connections = 4 }
                let transfer = try site.start(journal)
                await transfer.ended()
                expectComplete(Large.content, site, journal)
                #expect(transfer.live.bytes == Large.content.count)
                // Its share was two megabytes, for which it would have needed minutes.
                let slowOne = server.requests[slow - 1]
                #expect(slowOne.bodyBytesSent < 400_000)
                let first = try #require(slow == 1 ? 0 : slowOne.firstByte)
                // What it was to bring was asked for once more, by one that is not slow, or the
                // first connection, which was asked for the whole file, has come as far as that.
                let racers = server.requests.dropFirst(4).compactMap(\.firstByte)
                let isPassed = slow != 1 && server.requests[0].bodyBytesSent > first + 400_000
                #expect(
                    isPassed || racers.contains { $0 >= first && $0 < first + 400_000 },
                    "\(first): \(racers)"
                )
                #expect(server.requests.count < 16)
            }
        }
    }

    @Test(arguments: [nil, 4])
    func `a host that sends ranges far slower than the file costs no time`(chosen: Int?)
        async throws
    {
        try await withServer({ request in
            let rate = request["Range"] == nil ? 2_000_000 : 10_000
            return Large.file.with { $0.bytesPerSecond = rate }.answer(to: request)
        }) { server in
            try await withSite(connections: 4) { site in
                let journal = try await site.download(server.url("/file.bin")) {
                    $0.connections = chosen
                }
                expectComplete(Large.content, site, journal)
                #expect(server.requests.count > 1)
                // One megabyte by a range takes more than a minute.
                #expect(server.requests[0].bodyBytesSent > Large.content.count * 9 / 10)
            }
        }
    }

    @Test(arguments: [true, false])
    func `the first connection may fail where others run`(byReset: Bool) async throws {
        let others = Gate()
        try await withServer({ request in
            guard request.number == 1 else {
                return [.open(others)]
                    + Large.file.with { $0.bytesPerSecond = 4_000_000 }.answer(to: request)
            }
            let fields = [
                ("Content-Length", "\(Large.content.count)"), ("ETag", "\"v1\""),
                ("Accept-Ranges", "bytes"),
            ]
            return [
                .head("200 OK", fields), .sendPattern(Large.content, 0..<100_000),
                .wait(for: others), byReset ? .reset : .stall,
            ]
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin")) {
                    $0.connections = 4
                }
                expectComplete(Large.content, site, journal)
                #expect(journal.record.tries == 0)
            }
        }
    }

    @Test func `connections that break again and again lose nothing`() async throws {
        try await withServer({ request in
            let file = Large.file.with { $0.bytesPerSecond = 4_000_000 }
            guard request.number % 2 == 0, let range = request.range(of: Large.content.count)
            else { return file.answer(to: request) }
            let value = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(Large.content.count)"
            let fields = [
                ("Content-Length", "\(range.count)"), ("Content-Range", value), ("ETag", "\"v1\""),
            ]
            let end = min(range.upperBound, range.lowerBound + 150_001)
            return [
                .head("206 Partial Content", fields),
                .sendPattern(Large.content, range.lowerBound..<end), .reset,
            ]
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin")) { $0.connections = 4 }
                // An attempt may end with a first connection that breaks.
                for _ in 0..<10 where journal.record.state != .completed {
                    try await site.run(journal)
                    expectTrueClaims(Large.content, site, journal)
                }
                expectComplete(Large.content, site, journal)
            }
        }
    }

    // MARK: Going on later

    @Test func `a map with gaps is filled by several connections, and nothing else is fetched`()
        async throws
    {
        let hold = ServedFile.Hold(afterBytes: 512 << 10)
        let isSecond = Mutex(false)
        try await withServer({ request in
            Large.file.with { $0.hold = isSecond.withLock(\.self) ? nil : hold }
                .answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin")) { $0.connections = 4 }
                let transfer = try site.start(journal)
                while transfer.live.bytes < 4 * 512 << 10 { await Task.yield() }
                isSecond.withLock { $0 = true }
                try journal.apply(.pause)
                transfer.stop()
                await transfer.ended()
                #expect(journal.record.segments.byteCount == 4 * 512 << 10)
                #expect(journal.record.segments.ranges.count == 4)
                expectTrueClaims(Large.content, site, journal)

                let (before, held) = (server.requests.count, journal.record.segments)
                try await site.run(journal)
                expectComplete(Large.content, site, journal)
                let asked = server.requests.dropFirst(before)
                #expect(asked.count >= 4)
                for request in asked {
                    let range = try #require(request.range(of: Large.content.count))
                    let isMissing = held.gaps(upTo: Large.content.count).contains {
                        $0.first <= range.lowerBound && range.upperBound <= $0.end
                    }
                    #expect(isMissing, "\(range) was there")
                    #expect(request["If-Range"] == "\"v1\"")
                }
            }
        }
    }

    @Test func `a checkpoint names what all connections have brought`() async throws {
        let hold = ServedFile.Hold(afterBytes: 300_000)
        let held = Large.file.with { $0.hold = hold }
        try await withServer({ held.answer(to: $0) }) { server in
            try await withSite(checkpointInterval: .milliseconds(5)) { site in
                let journal = try site.task(server.url("/file.bin")) { $0.connections = 3 }
                let transfer = try site.start(journal)
                await journal.waitUntil { $0.segments.byteCount == 900_000 }
                #expect(transfer.live.segments.byteCount == 900_000)
                #expect(transfer.live.segments.ranges.count == 3)
                expectTrueClaims(Large.content, site, journal)
                hold.until.open()
                await transfer.ended()
                expectComplete(Large.content, site, journal)
            }
        }
    }

    @Test func `another version at the second attempt begins anew, gaps or not`() async throws {
        let hold = ServedFile.Hold(afterBytes: 512 << 10)
        let other = TestContent(TestContent(seed: 22, count: Large.content.count).bytes)
        let isSecond = Mutex(false)
        try await withServer({ request in
            isSecond.withLock(\.self)
                ? ServedFile(other, entityTag: "\"v2\"").answer(to: request)
                : Large.file.with { $0.hold = hold }.answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin")) { $0.connections = 4 }
                let transfer = try site.start(journal)
                while transfer.live.bytes < 4 * 512 << 10 { await Task.yield() }
                isSecond.withLock { $0 = true }
                try journal.apply(.pause)
                transfer.stop()
                await transfer.ended()
                let claimed = try #require(journal.record.segments.ranges.first)
                let descriptor = try #require(
                    try await site.engine.openFile(of: journal.record)
                )
                let reader = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
                try await site.run(journal)
                expectComplete(other, site, journal)
                // Who reads the partial file stays with the old version (contract.md, OpenFile).
                let old = try reader.read(upToCount: Int(claimed.end))
                #expect(old.map(Array.init) == Array(Large.content.bytes.prefix(Int(claimed.end))))
            }
        }
    }

    // MARK: A disk that fails

    /// Downloads the file by several connections, twice at most, with a fault on the way, and then
    /// without.
    private func walk(_ plan: FaultPlan, _ comment: Comment) async throws {
        let content = TestContent(seed: 23, count: 3 << 20)
        try await withServer({ ServedFile(content).answer(to: $0) }) { server in
            try await withTemporaryFolder { folder in
                var known: RecordingJournal?
                try await withSite(in: folder, faults: plan) { site in
                    let journal = try site.task(server.url("/file.bin")) { $0.connections = 3 }
                    known = journal
                    for _ in 0..<2 where journal.record.state != .completed {
                        try await site.run(journal)
                        expectTrueClaims(content, site, journal, comment)
                    }
                }
                let journal = try #require(known)
                try await withSite(in: folder) { site in
                    _ = await site.engine.measurePartial(of: journal.record)
                    for _ in 0..<4 where journal.record.state != .completed {
                        try await site.run(journal)
                        expectTrueClaims(content, site, journal, comment)
                    }
                    #expect(journal.record.state == .completed, comment)
                    #expect(site.holds(content, as: journal.record.file?.name ?? ""), comment)
                }
            }
        }
    }

    @Test func `whatever call fails while several connections write, no byte is wrong`()
        async throws
    {
        let count = FaultPlan()
        try await walk(count, "no fault")
        for call in stride(from: 1, through: count.calls + 4, by: 5) {
            let times = call % 2 == 0 ? 3 : 1
            try await walk(FaultPlan(failing: call, times: times), "\(times) from \(call) on")
        }
    }
}

extension RecordedRequest {
    /// Where the range begins that it asks for; nil where it asks for none.
    fileprivate var firstByte: Int64? { range(of: Large.content.count)?.lowerBound }
}
