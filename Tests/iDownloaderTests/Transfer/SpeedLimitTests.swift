// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting
import iDownloader

@testable import iDownState

/// Transfers that a limit holds: same bytes, and whatever else happens meanwhile.
@Suite(.timeLimit(.minutes(2))) struct SpeedLimitTests {
    /// So low that nothing goes for minutes.
    private static let crawl: Int64 = 1
    /// So high that a test is soon over, and low enough to hold every piece.
    private static let walk: Int64 = 3_000_000

    private func journal(_ site: Site, _ url: String, limit: Int64) throws -> RecordingJournal {
        RecordingJournal(
            TaskRecord(
                id: try #require(TaskID(rawValue: 1)),
                request: TaskRequest(url: url, directory: site.folder),
                createdAt: RecordingJournal.now,
                speedLimit: limit
            )
        )
    }

    @Test(arguments: [(walk, 0), (0, walk), (walk, walk)] as [(Int64, Int64)])
    func `a limit takes its time and changes no byte`(_ all: Int64, _ task: Int64) async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                site.engine.setSpeedLimit(all)
                let journal = try journal(site, server.url("/file.bin"), limit: task)
                let time = try await ContinuousClock().measure { try await site.run(journal) }
                expectComplete(Sample.content, site, journal)
                // 700 kB at 3 MB/s, and what a bucket holds at once: a lower bound, whatever the
                // machine.
                #expect(time > .milliseconds(130))
            }
        }
    }

    @Test func `a limit that goes lets the transfer go on`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                site.engine.setSpeedLimit(Self.crawl)
                let journal = try journal(site, server.url("/file.bin"), limit: Self.crawl)
                let transfer = try site.start(journal)
                await journal.waitUntil { $0.file != nil }
                #expect(transfer.live.bytes == 0)
                site.engine.setSpeedLimit(0)
                #expect(transfer.live.bytes == 0)
                site.engine.setSpeedLimit(of: journal.record.id, to: 0)
                await transfer.ended()
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func `a limit that comes holds what runs`() async throws {
        let hold = ServedFile.Hold(afterBytes: Sample.cut)
        let held = Sample.file.with { $0.hold = hold }
        try await withServer({ held.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try journal(site, server.url("/file.bin"), limit: 0)
                let transfer = try site.start(journal)
                try await within("the first part") {
                    while transfer.live.bytes < Sample.cut { await Task.yield() }
                }
                site.engine.setSpeedLimit(of: journal.record.id, to: Self.crawl)
                hold.until.open()
                // The server is through with the rest; a new task without a limit as well.
                let other = try site.task(server.url("/other.bin"), id: 2)
                try await site.run(other)
                #expect(other.record.state == .completed)
                #expect(transfer.live.bytes == Sample.cut)
                site.engine.setSpeedLimit(of: journal.record.id, to: 0)
                await transfer.ended()
                #expect(site.holds(Sample.content, as: "file.bin"))
            }
        }
    }

    @Test func `one that is held can be paused, and goes on from there`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try journal(site, server.url("/file.bin"), limit: 2_000_000)
                let transfer = try site.start(journal)
                try await within("some bytes") {
                    while transfer.live.bytes == 0 { await Task.yield() }
                }
                site.engine.setSpeedLimit(of: journal.record.id, to: Self.crawl)
                try journal.apply(.pause)
                transfer.stop()
                await transfer.ended()
                #expect(journal.record.state == .paused)
                #expect(journal.record.failure == nil)
                expectTrueClaims(Sample.content, site, journal)
                let kept = journal.record.segments.byteCount
                #expect(kept > 0)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.last?["Range"] == "bytes=\(kept)-")
            }
        }
    }

    @Test func `a checkpoint comes while a transfer is held`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite(checkpointInterval: .milliseconds(1)) { site in
                let journal = try journal(site, server.url("/file.bin"), limit: 2_000_000)
                let transfer = try site.start(journal)
                await journal.waitUntil { $0.segments.byteCount > 0 }
                expectTrueClaims(Sample.content, site, journal)
                await transfer.ended()
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test func `a server that ignores ranges is compared under a limit as well`() async throws {
        let file = Sample.file.with { $0.acceptsRanges = false }
        try await withServer({ $0.number == 1 ? file.cutOff() : file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try journal(site, server.url("/file.bin"), limit: Self.walk)
                try await site.run(journal)
                #expect(journal.record.segments.prefixLength == Sample.cut)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test func `another version is noticed under a limit as well`() async throws {
        let old = Sample.file.with { $0.acceptsRanges = false }
        let new = ServedFile(Sample.replaced).with { $0.acceptsRanges = false }
        try await withServer({ $0.number == 1 ? old.cutOff() : new.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try journal(site, server.url("/file.bin"), limit: Self.walk)
                try await site.run(journal)
                try await site.run(journal)
                expectComplete(Sample.replaced, site, journal)
            }
        }
    }

    @Test func `what is decoded on the way is held as well`() async throws {
        let packed = gzip(Sample.content.bytes)
        try await withServer({ _ in
            [
                .head(
                    "200 OK",
                    [("Content-Length", "\(packed.count)"), ("Content-Encoding", "gzip")]
                ),
                .send(packed),
            ]
        }) { server in
            try await withSite { site in
                let journal = try journal(site, server.url("/file.bin"), limit: Self.walk)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
            }
        }
    }
}
