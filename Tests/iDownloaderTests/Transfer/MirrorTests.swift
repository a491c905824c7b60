// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing
import iDownState
import iDownTesting
import iDownloader

/// A file that several servers have, or say that they have.
@Suite(.timeLimit(.minutes(2))) struct MirrorTests {
    private static let checksum = Checksum.Algorithm.sha256.checksum(of: Sample.content)

    /// Downloads from a first server, with a second one as its mirror.
    private func download(
        from first: @escaping @Sendable (RecordedRequest) -> [Step],
        mirror second: @escaping @Sendable (RecordedRequest) -> [Step],
        change: (inout TaskRequest) -> Void = { _ in },
        check: (Site, RecordingJournal, FaultServer, FaultServer) throws -> Void
    ) async throws {
        try await withServer(first) { home in
            try await withServer(second) { mirror in
                try await withSite { site in
                    let journal = try await site.download(home.url("/file.bin")) {
                        $0.mirrors = [mirror.url("/mirror.bin")]
                        change(&$0)
                    }
                    try check(site, journal, home, mirror)
                }
            }
        }
    }

    private static func no(_ status: Int) -> @Sendable (RecordedRequest) -> [Step] {
        { _ in [.head("\(status) No", [("Content-Length", "0")])] }
    }

    @Test(arguments: [403, 404, 410, 429, 500, 503, 451, 400])
    func `a mirror serves where the server does not`(status: Int) async throws {
        try await download(from: Self.no(status), mirror: { Sample.file.answer(to: $0) }) {
            site,
            journal,
            _,
            mirror in
            #expect(mirror.requests.map(\.target) == ["/mirror.bin"])
            expectComplete(Sample.content, as: "mirror.bin", site, journal)
        }
    }

    @Test func `a mirror serves where nobody listens`() async throws {
        let gone = try FaultServer.serving(Sample.file)
        gone.stop()
        try await withServer({ Sample.file.answer(to: $0) }) { mirror in
            try await withSite { site in
                let journal = try await site.download(gone.url("/file.bin")) {
                    $0.mirrors = [gone.url("/other.bin"), mirror.url("/file.bin")]
                }
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test func `with a digest a mirror goes on where the server broke off`() async throws {
        let other = Sample.file.with { $0.entityTag = "\"another\"" }
        try await download(
            from: { _ in Sample.file.cutOff() },
            mirror: { other.answer(to: $0) },
            change: { $0.checksum = Self.checksum }
        ) { site, journal, _, mirror in
            expectComplete(Sample.content, site, journal)
            #expect(journal.record.integrity == .checksum)
            #expect(mirror.requests.map { $0["Range"] } == ["bytes=\(Sample.cut)-"])
            #expect(mirror.requests.allSatisfy { $0["If-Range"] == nil })
        }
    }

    @Test func `without a digest a mirror goes on where its bytes prove the same file`()
        async throws
    {
        try await download(
            from: { _ in Sample.file.cutOff() },
            mirror: { Sample.file.answer(to: $0) }
        ) { site, journal, _, mirror in
            expectComplete(Sample.content, site, journal)
            #expect(journal.record.integrity == .length)
            #expect(mirror.requests.first?["Range"] == "bytes=\(Sample.cut)-")
            #expect(mirror.requests.allSatisfy { $0["Range"] != nil })
        }
    }

    /// A tag holds for its own host: nginx makes it of size and time, which copies share.
    @Test(arguments: ["\"another\"", "\"v1\""])
    func `without a digest two files are never mixed`(tag: String) async throws {
        let other = ServedFile(Sample.replaced, entityTag: tag)
        try await download(
            from: { _ in Sample.file.cutOff() },
            mirror: { other.answer(to: $0) }
        ) { site, journal, _, _ in
            #expect(site.holds(Sample.replaced, as: "file.bin"))
            #expect(journal.record.state == .completed)
        }
    }

    @Test func `with a digest a mirror of another length costs no bytes`() async throws {
        let other = ServedFile(TestContent(seed: 1, count: 500_000))
        try await download(
            from: { _ in Sample.file.cutOff() },
            mirror: { other.answer(to: $0) },
            change: { $0.checksum = Self.checksum }
        ) { site, journal, _, _ in
            #expect(journal.record.state != .completed)
            #expect(site.files == ["file.bin.part"])
        }
    }

    /// Tries twice: the server breaks off and then gives a status, its mirror has a file of another
    /// length.
    private func breakOff(
        then status: Int,
        check: (Site, RecordingJournal) async throws -> Void
    ) async throws {
        let other = ServedFile(TestContent(seed: 1, count: 500_000))
        try await withServer({ $0.number == 1 ? Sample.file.cutOff() : Self.no(status)($0) }) {
            home in
            try await withServer({ other.answer(to: $0) }) { mirror in
                try await withSite { site in
                    let journal = try await site.download(home.url("/file.bin")) {
                        $0.mirrors = [mirror.url("/mirror.bin")]
                    }
                    // Parts may have come from both by now, as far as the second attempt knows.
                    try await site.run(journal)
                    try await check(site, journal)
                }
            }
        }
    }

    @Test func `a mirror of another length is not asked again, and what is there stays`()
        async throws
    {
        try await breakOff(then: 503) { site, journal async throws in
            expectFailure(.serverBusy, isTransient: true, site, journal)
            #expect(site.files == ["file.bin.part"])
            #expect(journal.record.segments.byteCount == Sample.cut)
        }
    }

    @Test func `where only another file is left, that is said, and the next try takes it`()
        async throws
    {
        try await breakOff(then: 404) { site, journal async throws in
            expectFailure(.serverContentChanged, isTransient: false, site, journal)
            try await site.run(journal)
            #expect(journal.record.state == .completed)
        }
    }

    @Test func `a digest of the server is kept whatever the mirrors bring`() async throws {
        let digest = Checksum.Algorithm.sha256.digest(of: Sample.content.bytes)
        let field = ("Repr-Digest", "sha-256=:\(Data(digest).base64EncodedString()):")
        let other = ServedFile(Sample.replaced, entityTag: nil)
        try await withServer({ request in
            request.number == 1
                ? Sample.file.with { $0.fields = [field] }.cutOff()
                : [.head("503 Busy", [("Content-Length", "0")])]
        }) { home in
            try await withServer({ other.answer(to: $0) }) { mirror in
                try await withSite { site in
                    let journal = try await site.download(home.url("/file.bin")) {
                        $0.mirrors = [mirror.url("/mirror.bin")]
                    }
                    // Whoever gave the digest may yet have the file that goes with it.
                    expectFailure(.serverTruncated, isTransient: true, site, journal)
                    try await site.run(journal)
                    expectFailure(.checksumMismatch, isTransient: false, site, journal)
                    // To go on, alone, and once more where nobody else has anything.
                    #expect(mirror.requests.count == 3)
                }
            }
        }
    }

    @Test func `a mirror with a date of its own goes on where the bytes are equal`() async throws {
        let file = Sample.file.with {
            $0.entityTag = nil
            $0.lastModified = "Sat, 01 Aug 2026 10:00:00 GMT"
        }
        let other = file.with { $0.lastModified = "Sun, 02 Aug 2026 10:00:00 GMT" }
        try await download(
            from: { _ in file.cutOff() },
            mirror: { other.answer(to: $0) }
        ) { site, journal, _, mirror in
            expectComplete(Sample.content, site, journal)
            #expect(mirror.requests.allSatisfy { $0["Range"] != nil })
        }
    }

    @Test func `a mirror that calls the bytes text goes on where they are equal`() async throws {
        let other = Sample.file.with {
            $0.contentType = "text/plain"
            $0.entityTag = nil
        }
        try await download(
            from: { _ in Sample.file.cutOff() },
            mirror: { other.answer(to: $0) }
        ) { site, journal, _, mirror in
            expectComplete(Sample.content, site, journal)
            #expect(mirror.requests.allSatisfy { $0["Range"] != nil })
        }
    }

    @Test func `a page of a mirror, with a digest, costs no bytes`() async throws {
        try await download(
            from: { _ in Sample.file.cutOff() },
            mirror: { _ in
                [
                    .head(
                        "200 OK",
                        [("Content-Type", "text/html"), ("Transfer-Encoding", "chunked")]
                    ),
                    .chunk(Array("gone".utf8)), .lastChunk(),
                ]
            },
            change: { $0.checksum = Self.checksum }
        ) { site, journal, _, _ in
            #expect(journal.record.state != .completed)
            #expect(journal.record.segments.byteCount == Sample.cut)
        }
    }

    @Test func `a server whose file is not the right one gives way to a mirror`() async throws {
        for hasSize in [true, false] {
            let wrong = ServedFile(hasSize ? TestContent(seed: 2, count: 99) : Sample.replaced)
            try await download(
                from: { wrong.answer(to: $0) },
                mirror: { Sample.file.answer(to: $0) },
                change: {
                    $0.checksum = Self.checksum
                    if hasSize { $0.expectedSize = Sample.content.count }
                }
            ) { site, journal, _, mirror in
                #expect(journal.record.state == .completed)
                #expect(journal.record.integrity == .checksum)
                #expect(mirror.requests.map { $0["Range"] } == [nil])
                #expect(site.files.count == 1)
                #expect(site.files.allSatisfy { site.holds(Sample.content, as: $0) })
            }
        }
    }

    @Test func `where nobody has the right file that is what is said`() async throws {
        let wrong = ServedFile(Sample.replaced)
        try await download(
            from: { wrong.answer(to: $0) },
            mirror: Self.no(503),
            change: { $0.checksum = Self.checksum }
        ) { site, journal, _, _ in
            expectFailure(.checksumMismatch, isTransient: false, site, journal)
        }
    }

    @Test func `what may pass is said before what will not`() async throws {
        try await download(from: Self.no(404), mirror: Self.no(503)) { site, journal, _, _ in
            expectFailure(.serverBusy, isTransient: true, site, journal)
        }
        try await download(from: Self.no(404), mirror: Self.no(403)) { site, journal, _, _ in
            expectFailure(.serverNotFound, isTransient: false, site, journal)
        }
    }

    @Test func `no mirror gets what the client gave its server`() async throws {
        try await withServer(guarded(Self.no(404))) { home in
            try await withServer({ Sample.file.answer(to: $0) }) { mirror in
                try await withSite { site in
                    let url = "http://me:secret@127.0.0.1:\(home.port)/file.bin"
                    let journal = try await site.download(url) {
                        $0.mirrors = [mirror.url("/file.bin")]
                        $0.headers = [.init(name: "X-Key", value: "secret")]
                        $0.referrer = "http://127.0.0.1/secret"
                    }
                    expectComplete(Sample.content, site, journal)
                    #expect(home.requests.first?["X-Key"] == "secret")
                    #expect(home.requests.last?["Authorization"] != nil)
                    for request in mirror.requests {
                        #expect(request["X-Key"] == nil)
                        #expect(request["Authorization"] == nil)
                        #expect(request["Referer"] == nil)
                    }
                }
            }
        }
    }

    @Test func `a full disk is no reason to ask a mirror`() async throws {
        try await download(
            from: { _ in
                [.head("200 OK", [("Content-Length", "\(Int64.max / 2)")]), .text("x"), .stall]
            },
            mirror: { Sample.file.answer(to: $0) }
        ) { _, journal, _, mirror in
            #expect(journal.record.failure?.code == .fileNoSpace)
            #expect(mirror.requests.isEmpty)
        }
    }

    @Test func `servers name mirrors themselves`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { mirror in
            let link = ("Link", "<\(mirror.url("/file.bin"))>; rel=duplicate; pri=1")
            try await withServer({ request in
                guard request.number == 1 else { return [.head("503 Busy"), .close] }
                return Sample.file.with { $0.fields = [link] }.cutOff()
            }) { home in
                try await withSite { site in
                    let journal = try await site.download(home.url("/file.bin"))
                    expectComplete(Sample.content, site, journal)
                    #expect(mirror.requests.first?["Range"] == "bytes=\(Sample.cut)-")
                }
            }
        }
    }
}
