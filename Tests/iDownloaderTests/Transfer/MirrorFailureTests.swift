// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing
import iDownState
import iDownTesting
import iDownloader

/// What mirrors and servers that fail in turn may cost, and what not.
@Suite(.timeLimit(.minutes(2))) struct MirrorFailureTests {
    static let checksum = Checksum.Algorithm.sha256.checksum(of: Sample.content)

    /// Runs the first attempts of a task with one mirror.
    func attempts(
        _ count: Int,
        _ first: @escaping @Sendable (RecordedRequest) -> [Step],
        mirror second: @escaping @Sendable (RecordedRequest) -> [Step],
        change: (inout TaskRequest) -> Void = { _ in },
        check: (Site, RecordingJournal, FaultServer, FaultServer) async throws -> Void
    ) async throws {
        try await withServer(first) { home in
            try await withServer(second) { mirror in
                try await withSite { site in
                    let journal = try site.task(home.url("/file.bin")) {
                        $0.mirrors = [mirror.url("/file.bin")]
                        change(&$0)
                    }
                    for _ in 0..<count { try await site.run(journal) }
                    try await check(site, journal, home, mirror)
                }
            }
        }
    }

    static func no(_ status: Int, _ fields: [(String, String)] = []) -> [Step] {
        [.head("\(status) No", [("Content-Length", "0")] + fields)]
    }

    @Test func `a server with a wrong length costs nothing of what a mirror has brought`()
        async throws
    {
        let wrong = ServedFile(TestContent(seed: 2, count: 99))
        try await attempts(2) {
            wrong.answer(to: $0)
        } mirror: {
            $0.number == 1 ? Sample.file.cutOff() : Sample.file.answer(to: $0)
        } change: {
            $0.expectedSize = Sample.content.count
            $0.checksum = Self.checksum
        } check: { site, journal, _, mirror in
            expectComplete(Sample.content, site, journal)
            #expect(mirror.requests.map { $0["Range"] } == [nil, "bytes=\(Sample.cut)-"])
        }
    }

    @Test func `what one server has proven proves nothing of its mirror`() async throws {
        let weak = Sample.file.with { $0.entityTag = "W/\"v1\"" }
        let end = Sample.cut + 20_000
        // Equal to the file only where the proof of the last break point looks.
        let overlap = Int(end - OverlapProof.overlap)..<Int(end)
        var bytes = Sample.replaced.bytes
        bytes[overlap] = Sample.content.bytes[overlap]
        let other = ServedFile(TestContent(bytes), entityTag: "W/\"other\"")
        try await attempts(2) { request in
            guard request.number > 1 else { return weak.cutOff() }
            guard let range = request.range(of: Sample.content.count),
                range.upperBound == Sample.content.count
            else { return weak.answer(to: request) }
            // The proof, and a little behind it.
            let sent = range.lowerBound..<end
            return [weak.part(range)[0], .sendPattern(Sample.content, sent), .close]
        } mirror: {
            $0.number == 1 ? Self.no(404) : other.answer(to: $0)
        } check: { site, journal, home, mirror in
            expectProof(in: Array(home.requests.dropFirst()))
            // A sample first, which is not what is on disk; then its own file, and all of it.
            let asked = mirror.requests.dropFirst()
            let sample = try #require(asked.first?.range(of: Sample.content.count))
            #expect(sample.count == OverlapProof.sample)
            #expect(sample.upperBound <= overlap.lowerBound)
            #expect(asked.dropFirst().map { $0["Range"] } == [nil])
            expectComplete(other.content, site, journal)
        }
    }

    @Test func `a mirror that wants to be left alone does not hold up the server`() async throws {
        try await attempts(3) { request in
            guard let range = request.range(of: Sample.content.count) else {
                return Sample.file.cutOff()
            }
            return request.number < 3
                ? [.head("206 Partial Content", Sample.restFields), .close]
                : Sample.file.part(range)
        } mirror: { _ in
            Self.no(503, [("Retry-After", "3600")])
        } check: { site, journal, _, mirror in
            #expect(mirror.requests.count == 1)
            expectComplete(Sample.content, site, journal)
        }
    }

    @Test func `a server that rests leaves the file to its mirror`() async throws {
        try await attempts(2) { _ in
            Self.no(503, [("Retry-After", "3600")])
        } mirror: {
            $0.number == 1 ? Self.no(500) : Sample.file.answer(to: $0)
        } check: { site, journal, home, _ in
            #expect(home.requests.count == 1)
            expectComplete(Sample.content, site, journal)
        }
    }

    @Test func `a server that rests is not asked for parts`() async throws {
        try await withServer({ _ in Self.no(503, [("Retry-After", "3600")]) }) { home in
            try await withServer({ request in
                var file = Large.file
                file.bytesPerSecond = 2 << 20
                return file.answer(to: request)
            }) { mirror in
                try await withSite(connections: 4) { site in
                    let journal = try site.task(home.url("/file.bin")) {
                        $0.mirrors = [mirror.url("/file.bin")]
                        $0.checksum = Checksum.Algorithm.sha256.checksum(of: Large.content)
                    }
                    try await site.run(journal)
                    expectComplete(Large.content, site, journal)
                    #expect(home.requests.count == 1)
                    #expect(mirror.requests.count > 1)
                }
            }
        }
    }

    @Test func `a mirror that does not say how long its file is brings none`() async throws {
        try await attempts(1) { _ in
            Sample.file.cutOff()
        } mirror: { _ in
            [
                .head(
                    "200 OK",
                    [
                        ("Content-Type", "application/octet-stream"),
                        ("Transfer-Encoding", "chunked"),
                    ]
                ),
                .chunk(Array("try again later".utf8)), .lastChunk(),
            ]
        } check: { site, journal, _, _ in
            expectFailure(.serverTruncated, isTransient: true, site, journal)
            #expect(journal.record.segments.byteCount == Sample.cut)
        }
    }

    @Test func `a server that was left in the middle is tried alone where the sum is wrong`()
        async throws
    {
        let other = ServedFile(Sample.replaced, entityTag: "\"other\"")
        try await attempts(1) {
            $0.number == 1 ? Sample.file.cutOff() : Sample.file.answer(to: $0)
        } mirror: {
            other.answer(to: $0)
        } change: {
            $0.checksum = Self.checksum
        } check: { site, journal, _, _ in
            expectComplete(Sample.content, site, journal)
        }
    }

    @Test func `a mirror's head of another size costs nothing of what the server has brought`()
        async throws
    {
        let fields = [("Transfer-Encoding", "chunked"), ("ETag", "\"v1\"")]
        let wrong = ServedFile(TestContent(seed: 2, count: 99))
        try await attempts(2) { request in
            let sent = request.number == 1 ? Sample.cut : Sample.content.count
            return [
                .head("200 OK", fields), .chunk(Sample.content.bytes(in: 0..<sent)),
                request.number == 1 ? .reset : .lastChunk(),
            ]
        } mirror: {
            wrong.answer(to: $0)
        } change: {
            $0.expectedSize = Sample.content.count
        } check: { site, journal, home, mirror in
            expectComplete(Sample.content, site, journal)
            #expect(home.requests.count == 2)
            #expect(mirror.requests.count == 1)
        }
    }

    @Test func `a mirror that refuses a range says nothing about the next one`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { next in
            try await attempts(1) { _ in
                Sample.file.cutOff()
            } mirror: {
                Self.no($0["Range"] == nil ? 503 : 501)
            } change: {
                $0.mirrors.append(next.url("/file.bin"))
            } check: { site, journal, _, _ in
                expectComplete(Sample.content, site, journal)
                #expect(next.requests.allSatisfy { $0["Range"] != nil })
            }
        }
    }

    /// Apache names the coding of what is compressed already, and has another version of it.
    @Test func `an encoded answer of a mirror is held against the file's length`() async throws {
        let older = ServedFile(TestContent(seed: 3, count: 600_000), entityTag: "\"older\"")
            .with { $0.fields = [("Content-Encoding", "x-gzip")] }
        try await attempts(2) {
            $0.number == 1 ? Sample.file.cutOff() : Sample.file.answer(to: $0)
        } mirror: {
            older.withoutRanges($0)
        } change: {
            $0.fileName = "file.tar.gz"
        } check: { site, journal, home, _ in
            expectComplete(Sample.content, as: "file.tar.gz", site, journal)
            #expect(home.requests.last?["Range"] == "bytes=\(Sample.cut)-")
        }
    }

    @Test(arguments: [true, false])
    func `a mirror's answer that has to be decoded costs nothing of what the server has brought`(
        hasDigest: Bool
    ) async throws {
        let packed = TestContent(gzip(Sample.replaced.bytes))
        let other = ServedFile(packed, entityTag: "\"other\"").with {
            $0.fields = [("Content-Encoding", "gzip")]
        }
        try await attempts(2) {
            $0.number == 1 ? Sample.file.cutOff() : Sample.file.answer(to: $0)
        } mirror: {
            other.withoutRanges($0)
        } change: {
            if hasDigest { $0.checksum = Self.checksum }
        } check: { site, journal, home, mirror in
            expectComplete(Sample.content, site, journal)
            #expect(home.requests.last?["Range"] == "bytes=\(Sample.cut)-")
            #expect(mirror.requests.count == 1)
        }
    }

    @Test func `what a mirror sends encoded is held against the server's digest`() async throws {
        let digest = Data(Checksum.Algorithm.sha256.digest(of: Sample.content.bytes))
        let field = ("Repr-Digest", "sha-256=:\(digest.base64EncodedString()):")
        let packed = TestContent(gzip(Sample.replaced.bytes))
        let other = ServedFile(packed, entityTag: "\"other\"").with {
            $0.fields = [("Content-Encoding", "gzip")]
        }
        try await attempts(2) {
            $0.number == 1 ? Sample.file.with { $0.fields = [field] }.cutOff() : Self.no(404)
        } mirror: {
            $0.number == 1 ? Self.no(404) : other.withoutRanges($0)
        } check: { site, journal, _, _ in
            expectFailure(.checksumMismatch, isTransient: false, site, journal)
        }
    }

    @Test func `the digest of an error's page is none of the file`() async throws {
        let digest = Data(Checksum.Algorithm.sha256.digest(of: Array("gone".utf8)))
        let field = ("Repr-Digest", "sha-256=:\(digest.base64EncodedString()):")
        try await attempts(1) { _ in
            [.head("404 Not Found", [field, ("Content-Length", "4")]), .text("gone")]
        } mirror: {
            Sample.file.answer(to: $0)
        } check: { site, journal, _, _ in
            expectComplete(Sample.content, site, journal)
        }
    }

    @Test(arguments: [401, 403])
    func `where a fresh link may help, a mirror's other file does not count`(status: Int)
        async throws
    {
        let other = ServedFile(TestContent(seed: 1, count: 500_000))
        try await attempts(2) {
            $0.number == 1 ? Sample.file.cutOff() : Self.no(status)
        } mirror: {
            other.answer(to: $0)
        } check: { site, journal, _, _ in
            // A 403 of a host that has served the task may also be a limit of connections.
            let code: FailureCode = status == 401 ? .serverAuthRequired : .serverForbidden
            expectFailure(code, isTransient: status == 403, site, journal)
            #expect(journal.record.segments.byteCount == Sample.cut)
        }
    }
}
