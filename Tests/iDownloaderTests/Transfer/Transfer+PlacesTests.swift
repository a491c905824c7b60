// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import iDownState
import iDownTesting
import iDownloader

/// Several sources that bring parts of one file side by side.
@Suite(.timeLimit(.minutes(2))) struct TransferPlacesTests {
    typealias Answer = @Sendable (RecordedRequest) -> [Step]

    private static let checksum = Checksum.Algorithm.sha256.checksum(of: Large.content)
    private static let wrong = TestContent(TestContent(seed: 24, count: Large.content.count).bytes)

    /// Downloads a large file with a digest from a server that stands still in it until each of
    /// its mirrors was asked.
    private func download(
        mirrors answers: [Answer],
        home answer: @escaping @Sendable (RecordedRequest, ServedFile) -> [Step] = {
            $1.answer(to: $0)
        },
        change: (inout TaskRequest) -> Void = { _ in },
        check: (Site, RecordingJournal, FaultServer, [FaultServer]) throws -> Void
    ) async throws {
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let asked = Mutex<Set<Int>>([])
        let mirrors = try answers.enumerated().map { number, answer in
            try FaultServer(
                script: .init { request in
                    let count = asked.withLock { asked in
                        asked.insert(number)
                        return asked.count
                    }
                    return (count == answers.count ? [.open(hold.until)] : []) + answer(request)
                }
            )
        }
        defer { for mirror in mirrors { mirror.stop() } }
        let held = Large.file.with { $0.hold = hold }
        try await withServer({ answer($0, $0.number == 1 ? held : Large.file) }) { home in
            try await withSite { site in
                let journal = try await site.download(home.url("/file.bin")) {
                    $0.mirrors = mirrors.map { $0.url("/file.bin") }
                    $0.checksum = Self.checksum
                    $0.connections = 4
                    change(&$0)
                }
                try check(site, journal, home, mirrors)
            }
        }
    }

    /// The same file with validators of its own.
    private static func copy(_ tag: String, _ content: TestContent = Large.content) -> Answer {
        {
            ServedFile(content, entityTag: "\"\(tag)\"", lastModified: Sample.lastModified)
                .answer(to: $0)
        }
    }

    @Test func `a digest lets mirrors bring parts of the file at the same time`() async throws {
        try await download(
            mirrors: [Self.copy("a"), Self.copy("b")],
            change: {
                $0.headers = [.init(name: "X-Key", value: "secret")]
            }
        ) { site, journal, home, mirrors in
            expectComplete(Large.content, site, journal)
            #expect(journal.record.integrity == .checksum)
            #expect(journal.record.tries == 0)
            #expect(home.requests.first?["X-Key"] == "secret")
            for mirror in mirrors {
                #expect(mirror.requests.contains { $0.bodyBytesSent > 0 })
                for request in mirror.requests {
                    #expect(request["Range"] != nil)
                    #expect(request["If-Range"] == nil)
                    #expect(request["X-Key"] == nil)
                }
            }
        }
    }

    @Test func `without a digest nobody vouches for mirrors, and they are not asked`()
        async throws
    {
        try await withServer(Self.copy("v1")) { mirror in
            let slow = Large.file.with { $0.bytesPerSecond = 16_000_000 }
            try await withServer({ slow.answer(to: $0) }) { home in
                try await withSite { site in
                    let journal = try await site.download(home.url("/file.bin")) {
                        $0.mirrors = [mirror.url("/file.bin")]
                        $0.connections = 4
                    }
                    expectComplete(Large.content, site, journal)
                    #expect(mirror.requests.isEmpty)
                    #expect(home.requests.count > 1)
                }
            }
        }
    }

    @Test func `a mirror that gives other bytes is found out, and the file fetched from one alone`()
        async throws
    {
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let held = Large.file.with { $0.hold = hold }
        try await withServer(Self.copy("v1", Self.wrong)) { mirror in
            try await withServer({ ($0.number == 1 ? held : Large.file).answer(to: $0) }) { home in
                try await withSite { site in
                    let journal = try site.task(home.url("/file.bin")) {
                        $0.mirrors = [mirror.url("/file.bin")]
                        $0.checksum = Self.checksum
                        $0.connections = 2
                    }
                    let transfer = try site.start(journal)
                    // The mirror's bytes are in the file before the server goes on.
                    try await waitForBytes(of: transfer, behind: 1 << 20)
                    hold.until.open()
                    await transfer.ended()
                    expectComplete(Large.content, site, journal)
                    #expect(journal.record.integrity == .checksum)
                    #expect(home.requests.count { $0["Range"] == nil } == 2)
                }
            }
        }
    }

    /// Returns once something is in the file behind an offset that the first connection, which
    /// stands still, has not come to.
    private func waitForBytes(of transfer: RunningTransfer, behind offset: Int64) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while transfer.live.segments.end <= offset {
            try #require(ContinuousClock.now < end, "no bytes of a mirror")
            await Task.yield()
        }
    }

    @Test func `where the pieces have hashes only the wrong ones are fetched again`()
        async throws
    {
        let length: Int64 = 1 << 20
        let digests = stride(from: 0, to: Large.content.count, by: Int64.Stride(length)).flatMap {
            let end = min($0 + length, Large.content.count)
            return Checksum.Algorithm.sha1.digest(of: Large.content.bytes(in: $0..<end))
        }
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let held = Large.file.with { $0.hold = hold }
        try await withServer(Self.copy("v1", Self.wrong)) { mirror in
            try await withServer({ ($0.number == 1 ? held : Large.file).answer(to: $0) }) { home in
                try await withSite { site in
                    let journal = try site.task(home.url("/file.bin")) {
                        $0.mirrors = [mirror.url("/file.bin")]
                        $0.hasPieceHashes = true
                        $0.connections = 2
                    }
                    journal.keep(PieceHashes(.sha1, length: length, digests: digests))
                    let transfer = try site.start(journal)
                    try await waitForBytes(of: transfer, behind: 1 << 20)
                    hold.until.open()
                    await transfer.ended()
                    #expect(mirror.requests.contains { $0.bodyBytesSent > 0 })
                    expectComplete(Large.content, site, journal)
                    #expect(journal.record.integrity == .checksum)
                    let whole = home.requests.count { $0["Range"] == nil }
                    #expect(whole == 1)
                }
            }
        }
    }

    /// A slow connection goes on while another is asked for the same: what it still brings is in the
    /// digest when the other's bytes take its place.
    @Test func `bytes that a race has written over are read again`() async throws {
        let content = TestContent(TestContent(seed: 25, count: 2 << 20).bytes)
        let (file, count) = (ServedFile(content), Int64(content.count))
        // The mirror is asked for the second half, and home stands still so near to the end of the
        // first one that its rest is not worth a split.
        let start = count / 2 - SegmentPlan.smallestShare / 4 * 3
        let brought = start..<(start + 64 << 10)
        let (joined, arrived, asked, digested) = (Gate(), Gate(), Gate(), Gate())
        try await withServer({ request in
            let range = request.range(of: content.count) ?? 0..<count
            let head = file.part(range)[0]
            guard range.lowerBound == start else {
                return [
                    .open(joined), head, .wait(for: arrived), .sendPattern(content, range),
                ]
            }
            return [
                head, .open(asked), .wait(for: digested),
                .send(Self.wrong.bytes(in: brought)),
                .sendPattern(content, brought.upperBound..<range.upperBound),
            ]
        }) { mirror in
            try await withServer({ request in
                guard request.number == 1 else { return file.answer(to: request) }
                return [
                    .head("200 OK", file.fieldsOfAnswer + [("Content-Length", "\(count)")]),
                    .sendPattern(content, 0..<1), .wait(for: joined),
                    .sendPattern(content, 1..<start), .wait(for: asked),
                    .sendPattern(content, brought), .stall,
                ]
            }) { home in
                let clock = StandingClock()
                try await withSite(checkpointInterval: .milliseconds(50), time: clock.time) {
                    site in
                    let journal = try site.task(home.url("/file.bin")) {
                        $0.mirrors = [mirror.url("/file.bin")]
                        $0.checksum = Checksum.Algorithm.sha256.checksum(of: content)
                        $0.connections = 2
                    }
                    journal.before { event, _ in
                        guard case .checkpointed(let map) = event else { return true }
                        if map.prefixLength >= start { arrived.open() }
                        // Only once the mirror has nothing else to bring is home's rest late.
                        if map.byteCount >= start + count / 2 - 1 { clock.go() }
                        if map.prefixLength >= brought.upperBound { digested.open() }
                        return true
                    }
                    try await site.run(journal)
                    let last = mirror.requests.last?.range(of: content.count)
                    #expect(last?.lowerBound == start)
                    expectComplete(content, site, journal)
                    #expect(home.requests.count > 1)
                }
            }
        }
    }

    @Test func `who has a wrong file is not asked for parts of the right one`() async throws {
        // It brings its own file by one connection.
        let wrong = ServedFile(Self.wrong, entityTag: "W/\"wrong\"").with {
            $0.acceptsRanges = false
            $0.fields = [("Accept-Ranges", "none")]
        }
        try await withServer({ wrong.answer(to: $0) }) { home in
            let slow = Large.file.with { $0.bytesPerSecond = 16_000_000 }
            try await withServer({ slow.answer(to: $0) }) { mirror in
                try await withSite { site in
                    let journal = try await site.download(home.url("/file.bin")) {
                        $0.mirrors = [mirror.url("/file.bin")]
                        $0.checksum = Self.checksum
                        $0.connections = 4
                    }
                    expectComplete(Large.content, site, journal)
                    #expect(home.requests.count == 1)
                    #expect(mirror.requests.count > 1)
                }
            }
        }
    }

    enum Trouble: CaseIterable, Sendable {
        case notFound, forbidden, busy, reset, closed, silent, ignoresRanges, otherLength, page
        case cutOff, redirectToNowhere

        func steps(_ request: RecordedRequest) -> [Step] {
            let range = request.range(of: Large.content.count) ?? 0..<Large.content.count
            let file = Large.file
            return switch self {
            case .notFound: [.head("404 Not Found", [("Content-Length", "0")])]
            case .forbidden: [.head("403 Forbidden", [("Content-Length", "0")])]
            case .busy:
                [.head("503 Busy", [("Content-Length", "0"), ("Retry-After", "3000")])]
            case .reset: [.reset]
            case .closed: [.close]
            case .silent: [.stall]
            case .ignoresRanges: file.withoutRanges(request)
            case .otherLength: file.part(range, total: "\(Large.content.count + 1)")
            case .page:
                [
                    .head("200 OK", [("Content-Type", "text/html"), ("Content-Length", "5")]),
                    .text("sorry"),
                ]
            case .cutOff:
                file.part(range).dropLast() + [
                    .sendPattern(file.content, range.lowerBound..<(range.lowerBound + 1000)),
                    .close,
                ]
            case .redirectToNowhere:
                [.head("302 Found", [("Location", "ftp://127.0.0.1/x"), ("Content-Length", "0")])]
            }
        }
    }

    @Test(arguments: Trouble.allCases)
    func `a mirror that is of no use is left, and costs nothing`(trouble: Trouble) async throws {
        try await download(mirrors: [{ trouble.steps($0) }]) { site, journal, home, mirrors in
            expectComplete(Large.content, site, journal)
            #expect(journal.record.integrity == .checksum)
            #expect(journal.record.tries == 0)
            // Two may be on their way before the first has failed.
            #expect(mirrors[0].requests.count <= 3, "\(mirrors[0].requests.count)")
            #expect(home.requests.count { $0["Range"] == nil } == 1)
        }
    }

    @Test func `where the server itself breaks off, the mirrors bring the rest`() async throws {
        try await download(
            mirrors: [Self.copy("a")],
            home: { request, file in
                guard request.number == 1, let hold = file.hold else { return [.reset] }
                return [
                    .head(
                        "200 OK",
                        file.fieldsOfAnswer + [
                            ("Content-Length", "\(file.content.count)")
                        ]
                    ), .sendPattern(file.content, 0..<hold.afterBytes), .wait(for: hold.until),
                    .sendPattern(file.content, hold.afterBytes..<(1 << 20)), .reset,
                ]
            }
        ) { site, journal, _, _ in
            expectComplete(Large.content, site, journal)
            #expect(journal.record.integrity == .checksum)
        }
    }
}
