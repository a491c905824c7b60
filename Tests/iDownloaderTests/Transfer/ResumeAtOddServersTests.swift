// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import iDownState
import iDownTesting
import iDownloader

/// The second attempt of an interrupted download, at hosts that get ranges wrong.
///
/// Each of them made at least one known downloader save a mixed file and report success.
@Suite(.timeLimit(.minutes(5))) struct ResumeAtOddServersTests {
    /// What a host answers to a request for the rest, and the file that it has then.
    @Test(arguments: ["no ranges", "no If-Range", "no Content-Range", "another file"])
    func `a useless answer is not asked for again where the request after it is refused`(
        host: String
    ) async throws {
        let new = ServedFile(Sample.replaced, entityTag: "\"v2\"")
        let file = host == "another file" ? new : Sample.file
        let fields = Sample.restFields.filter { $0.0 != "Content-Range" }
        @Sendable func answer(_ request: RecordedRequest) -> [Step] {
            guard request["Range"] != nil else { return file.answer(to: request) }
            switch host {
            case "no If-Range" where request["If-Range"] == nil: return file.answer(to: request)
            case "no ranges", "no If-Range": return whole(file.content, [("ETag", "\"v1\"")])
            case "no Content-Range":
                return [
                    .head("206 Partial Content", fields),
                    .sendPattern(file.content, Sample.cut..<file.content.count),
                ]
            default: return file.withoutConditions(request)
            }
        }
        let busy: [Step] = [.head("503 Service Unavailable", [("Content-Length", "0")])]
        try await interrupting(then: { $0.number == 3 ? busy : answer($0) }) {
            site,
            journal,
            server in
            try await site.run(journal)
            expectFailure(.serverBusy, isTransient: true, site, journal)
            #expect(journal.record.segments.prefixLength == Sample.cut)
            try await site.run(journal)
            expectComplete(file.content, site, journal)
            #expect(server.requests.count == 4)
        }
    }

    private static let content = Sample.content
    private static let count = Sample.content.count

    /// A failing script's answer, of this type, once.
    ///
    /// A page with words in place of a file is what an expired link gives.
    @Test(arguments: [
        ("application/octet-stream", ""), ("application/octet-stream", "error 17\n"),
        ("text/html", ""),
    ])
    func `something short in place of the file costs none of its bytes`(
        type: String,
        text: String
    ) async throws {
        try await interrupting(then: { request in
            guard request.number == 2 else { return Sample.file.answer(to: request) }
            let fields = [("Content-Type", type), ("Content-Length", "\(text.utf8.count)")]
            return [.head("200 OK", fields), .send(Array(text.utf8))]
        }) { site, journal, _ in
            try await site.run(journal)
            expectFailure(.serverTruncated, isTransient: true, site, journal)
            #expect(journal.record.segments.prefixLength == Sample.cut)
            try await site.run(journal)
            expectComplete(Self.content, site, journal)
        }
    }

    @Test(arguments: [true, false])
    func `a file that is shorter now is fetched anew after several answers`(
        hadTag: Bool
    ) async throws {
        let shorter = ServedFile(TestContent(seed: 3, count: 1000), entityTag: nil)
        let first = Sample.file.with { if !hadTag { $0.entityTag = nil } }
        try await withServer({
            $0.number == 1 ? first.cutOff() : shorter.answer(to: $0)
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                try await site.run(journal)
                for _ in 1..<(hadTag ? Int(RetryPolicy.tries) : 2) {
                    try await site.run(journal)
                    expectFailure(.serverTruncated, isTransient: true, site, journal)
                    #expect(journal.record.segments.prefixLength == Sample.cut)
                }
                try await site.run(journal)
                expectComplete(shorter.content, site, journal)
            }
        }
    }

    @Test func `a page that is never the same and has no length is a wrong file`() async throws {
        try await withServer({ request in
            let end = 100_000 + Int64(request.number) * 1000
            return [.head("200 OK"), .sendPattern(Self.content, 0..<end), .close]
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin")) {
                    $0.checksum = Checksum.Algorithm.sha256.checksum(of: Self.content)
                }
                for _ in 0..<3 {
                    try await site.run(journal)
                    expectFailure(.serverTruncated, isTransient: true, site, journal)
                }
                try await site.run(journal)
                expectFailure(.checksumMismatch, isTransient: false, site, journal)
            }
        }
    }

    // MARK: If-Range

    @Test func `a host that dislikes If-Range is asked without`() async throws {
        try await resuming(then: { request in
            guard request["If-Range"] == nil else { return Sample.file.withoutRanges(request) }
            return Sample.file.answer(to: request)
        }) { site, journal, requests in
            expectComplete(Self.content, site, journal)
            #expect(requests.map { $0["If-Range"] } == ["\"v1\"", nil])
            #expect(requests.map { $0["Range"] } == ["bytes=400003-", "bytes=400003-"])
            #expect(journal.record.remote.dislikesIfRange)
            #expect(journal.record.integrity == .validators)
        }
    }

    @Test func `a host that forbids ranges is asked for the whole, and what is equal is kept`()
        async throws
    {
        let refusal: [Step] = [.head("403 Forbidden", [("Content-Length", "0")])]
        try await resuming(then: { request in
            request["Range"] == nil ? Sample.file.withoutRanges(request) : refusal
        }) { site, journal, requests in
            expectComplete(Self.content, site, journal)
            #expect(requests.map { $0["Range"] } == ["bytes=400003-", nil])
            #expect(journal.record.remote.refusesRanges)
        }
        try await resuming(then: { _ in refusal }) { site, journal, requests in
            expectFailure(.serverForbidden, isTransient: true, site, journal)
            #expect(requests.count == 2)
            #expect(journal.record.segments.prefixLength == Sample.cut)
            #expect(!journal.record.remote.refusesRanges)
        }
    }

    @Test func `that it dislikes If-Range is remembered`() async throws {
        let file = Sample.file
        try await withServer({ request in
            switch request.number {
            case 1: file.cutOff()
            case 2: file.withoutRanges(request)
            // Less than the rest, then the connection is cut.
            case 3: [.head("206 Partial Content", Sample.restFields), .send(tenBytes), .close]
            default: file.answer(to: request)
            }
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                for _ in 0..<3 { try await site.run(journal) }
                expectComplete(Self.content, site, journal)
                let requests = server.requests
                #expect(requests.map { $0["If-Range"] } == [nil, "\"v1\"", nil, nil])
                #expect(requests.last?["Range"] == "bytes=400013-")
            }
        }
    }

    // MARK: 200 in mid-file

    @Test func `all of the file in place of its rest is compared with what is there`()
        async throws
    {
        try await resuming(then: { Sample.file.withoutRanges($0) }) { event, journal in
            if case .opened(_, let version, let kept) = event {
                #expect(kept == journal.record.segments)
                #expect(!version.servesRanges)
            }
            return true
        } check: { site, journal, requests in
            expectComplete(Self.content, site, journal)
            #expect(requests.count == 2)
            #expect(!journal.kinds.contains(.checkpointed) || journal.kinds.last == .completed)
        }
    }

    @Test(arguments: [0, 1, 16_384, 262_143, 262_144, 262_145, 300_000, Sample.cut - 1])
    func `the first byte that differs cuts the map before anything is overwritten`(
        offset: Int64
    ) async throws {
        // A host whose tag stays the same although the bytes do not.
        var bytes = Self.content.bytes
        bytes[Int(offset)] ^= 1
        bytes.replaceSubrange(
            (Int(offset) + 1)...,
            with: Sample.replaced.bytes(in: (offset + 1)..<Self.count)
        )
        let other = ServedFile(TestContent(bytes))
        let cuts = Counter()
        try await withServer({ request in
            request.number == 1 ? Sample.file.cutOff() : other.withoutRanges(request)
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                try await site.run(journal)
                journal.before { event, journal in
                    guard case .checkpointed(let map) = event,
                        map.byteCount < journal.record.segments.byteCount
                    else { return true }
                    cuts.add()
                    #expect(map.prefixLength == offset)
                    let isUntouched =
                        site.bytes(of: "file.bin.part") == Self.content.bytes(in: 0..<Sample.cut)
                    #expect(isUntouched, "overwritten too early")
                    return true
                }
                try await site.run(journal)
                #expect(cuts.count == 1)
                expectComplete(other.content, site, journal)
            }
        }
    }

    @Test func `a range that was refused once is asked for again by the next attempt`()
        async throws
    {
        let refusal: [Step] = [.head("501 Not Implemented", [("Content-Length", "0")])]
        let further = Sample.cut + 100_000
        try await interrupting(then: { request in
            switch request.number {
            case 2: refusal
            case 3: Sample.file.cutOff(at: further)
            default: Sample.file.answer(to: request)
            }
        }) { site, journal, server in
            try await site.run(journal)
            #expect(journal.record.segments.prefixLength == further)
            try await site.run(journal)
            expectComplete(Self.content, site, journal)
            let ranges = server.requests.map { $0["Range"] }
            #expect(ranges == [nil, "bytes=\(Sample.cut)-", nil, "bytes=\(further)-"])
        }
    }

    @Test func `an answer without a length that goes on behind the recorded one is another file`()
        async throws
    {
        let longer = TestContent(Self.content.bytes + Sample.replaced.bytes)
        try await resuming(Sample.file.with { $0.entityTag = nil }) { _ in
            let head = Step.head("200 OK", [("Transfer-Encoding", "chunked")])
            return [head, .chunk(longer.bytes), .lastChunk()]
        } check: { site, journal, _ in
            expectComplete(longer, site, journal)
        }
    }

    @Test func `an answer without a length that ends before the stored bytes do was cut`()
        async throws
    {
        let tag = [("ETag", "\"v1\"")]
        let chunk = Step.chunk(Self.content.bytes)
        try await withServer({ request in
            switch request.number {
            case 1: [.head("200 OK", tag + [("Transfer-Encoding", "chunked")]), chunk, .close]
            case 2: [.head("200 OK", tag), .sendPattern(Self.content, 0..<Sample.cut), .close]
            default: Sample.file.withoutRanges(request)
            }
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                for _ in 0..<2 {
                    try await site.run(journal)
                    expectFailure(.serverTruncated, isTransient: true, site, journal)
                    #expect(journal.record.segments.prefixLength == Self.count)
                }
                try await site.run(journal)
                expectComplete(Self.content, site, journal)
            }
        }
    }

    /// `knows` is what tells that the file is not whole; `isWrong` says that the host has another
    /// file than the expected one.
    @Test(arguments: ["digest", "size"], [false, true])
    func `a body without a length counts as cut until a second one ends at the same byte`(
        knows: String,
        isWrong: Bool
    ) async throws {
        let cuts = isWrong ? [Sample.cut] : [100_000, Sample.cut, Self.count]
        try await withServer({ request in
            let end = cuts[min(request.number, cuts.count) - 1]
            let head = Step.head("200 OK", [("ETag", "\"v1\"")])
            return [head, .sendPattern(Self.content, 0..<end), .close]
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin")) {
                    if knows == "digest" {
                        $0.checksum = Checksum.Algorithm.sha256.checksum(of: Self.content)
                    } else {
                        $0.expectedSize = Int64(Self.count)
                    }
                }
                for cut in cuts.prefix(2) where cut < Self.count {
                    try await site.run(journal)
                    expectFailure(.serverTruncated, isTransient: true, site, journal)
                    #expect(journal.record.segments.prefixLength == Int64(cut))
                }
                try await site.run(journal)
                guard isWrong else { return expectComplete(Self.content, site, journal) }
                let code: FailureCode = knows == "digest" ? .checksumMismatch : .sizeMismatch
                expectFailure(code, isTransient: false, site, journal)
                #expect(server.requests.count == 2)
            }
        }
    }

    /// A network of caches passes a file on as a whole while it does not have it yet.
    @Test func `a host that ignored ranges once is asked for one again`() async throws {
        try await withServer({ request in
            switch request.number {
            case 1: Sample.file.cutOff()
            // With its condition, and without: the body of the second is of use.
            case 2: Sample.file.withoutRanges(request)
            case 3: Sample.file.cutOff(at: Sample.cut + 100_000)
            default: Sample.file.answer(to: request)
            }
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                for _ in 0..<3 { try await site.run(journal) }
                expectComplete(Self.content, site, journal)
                let ranges = server.requests.map { $0["Range"] }
                let rest = "bytes=\(Sample.cut)-"
                #expect(ranges == [nil, rest, rest, "bytes=\(Sample.cut + 100_000)-"])
            }
        }
    }

    @Test func `a comparison that is cut off keeps what was there`() async throws {
        try await withServer({ request in
            switch request.number {
            case 1: Sample.file.cutOff()
            case 2, 3: Sample.file.with { $0.acceptsRanges = false }.cutOff(at: 100_000)
            default: Sample.file.withoutRanges(request)
            }
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                try await site.run(journal)
                try await site.run(journal)
                #expect(journal.record.failure?.code == .serverTruncated)
                #expect(journal.record.segments.prefixLength == Sample.cut)
                expectTrueClaims(Self.content, site, journal)
                try await site.run(journal)
                expectComplete(Self.content, site, journal)
            }
        }
    }

    // MARK: 206

    @Test(arguments: [
        nil, "bytes 0-299997/700001", "bytes 400002-700000/700001", "bytes 400004-700000/700001",
        "bytes 400003-700001/700001", "bytes 400003-700000/700000", "bytes 400003-/700001",
        "bytes */700001", "items 400003-700000/700001", "nonsense",
    ])
    func `a partial answer that is not for the range is not stored`(
        contentRange: String?
    ) async throws {
        let wrong = TestContent(seed: 9, count: Self.count - Sample.cut)
        try await resuming(then: { request in
            guard request["Range"] != nil else { return Sample.file.withoutRanges(request) }
            let range = contentRange.map { [("Content-Range", $0)] } ?? []
            let fields = [("Content-Length", "\(wrong.count)"), ("ETag", "\"v1\"")] + range
            return [.head("206 Partial Content", fields), .sendPattern(wrong, 0..<wrong.count)]
        }) { site, journal, requests in
            expectComplete(Self.content, site, journal)
            #expect(requests.map { $0["Range"] } == ["bytes=400003-", nil])
        }
    }

    @Test(arguments: [true, false])
    func `an answer in several parts is not stored`(hasRange: Bool) async throws {
        try await resuming(then: { request in
            guard request["Range"] != nil else { return Sample.file.withoutRanges(request) }
            let range = Sample.restFields.filter { hasRange && $0.0 == "Content-Range" }
            let parts = "--x\r\nContent-Type: text/plain\r\n\r\nsomething\r\n--x--\r\n"
            let type = ("Content-Type", "multipart/byteranges; boundary=x")
            let fields = [type, ("Content-Length", "\(parts.utf8.count)"), ("ETag", "\"v1\"")]
            return [.head("206 Partial Content", fields + range), .text(parts)]
        }) { site, journal, requests in
            expectComplete(Self.content, site, journal)
            #expect(requests.map { $0["Range"] } == ["bytes=400003-", nil])
        }
    }

    @Test func `a partial answer that goes on beyond the file is cut at its end`() async throws {
        try await resuming(then: { _ in
            let fields = Sample.restFields.filter { $0.0 != "Content-Length" }
            return [
                .head("206 Partial Content", fields),
                .sendPattern(Self.content, Sample.cut..<Self.count),
                .text("and more"), .close,
            ]
        }) { site, journal, _ in
            expectComplete(Self.content, site, journal)
        }
    }

    @Test func `a part that nobody asked for is no file`() async throws {
        try await withServer({ _ in partial(10..<20) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectFailure(.serverBadResponse, isTransient: false, site, journal)
                #expect(site.files.isEmpty)
            }
        }
    }

    @Test func `a part that is the whole file is one`() async throws {
        try await withServer({ _ in partial(0..<Self.count) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(Self.content, site, journal)
            }
        }
    }

    @Test func `a host that never brings the rest is given up`() async throws {
        try await resuming(then: { _ in
            let fields = Sample.restFields.filter { $0.0 != "Content-Length" }
            return [.head("206 Partial Content", fields + [("Content-Length", "0")])]
        }) { site, journal, requests in
            #expect(journal.record.failure?.code == .serverBadResponse)
            #expect(requests.count < 20)
            #expect(journal.record.segments.prefixLength == Sample.cut)
            expectTrueClaims(Self.content, site, journal)
        }
    }

    // MARK: 416

    @Test(arguments: [nil, "bytes */700001", "bytes */400003", "bytes */0", "nonsense"])
    func `a refused range is not the end of the file`(contentRange: String?) async throws {
        try await resuming(then: { request in
            guard request["Range"] != nil else { return Sample.file.withoutRanges(request) }
            let range = contentRange.map { [("Content-Range", $0)] } ?? []
            let fields = [("Content-Length", "0"), ("ETag", "\"v1\"")] + range
            return [.head("416 Range Not Satisfiable", fields)]
        }) { site, journal, requests in
            expectComplete(Self.content, site, journal)
            #expect(requests.map { $0["Range"] } == ["bytes=400003-", nil])
        }
    }

    @Test(arguments: [2, 3])
    func `a host that refuses each second question is asked for the whole in the end`(
        refused: Int
    ) async throws {
        let file = Sample.file.with { $0.entityTag = nil }
        let count = Mutex(0)
        try await withServer({ request in
            if request.number == 1 { return file.cutOff() }
            guard request["Range"] != nil else { return file.answer(to: request) }
            let isRefused = count.withLock { count in
                count = (count + 1) % refused
                return count == 0
            }
            return isRefused
                ? [.head("503 Service Unavailable", [("Content-Length", "0")])]
                : file.answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                for _ in 0..<6 where journal.record.state != .completed {
                    try await site.run(journal)
                }
                guard refused == 2 else {
                    // What breaks later may be the line: no byte is given up for that.
                    let wholes = server.requests.dropFirst().filter { $0["Range"] == nil }
                    #expect(wholes.isEmpty)
                    #expect(journal.record.segments.byteCount >= Sample.cut)
                    return
                }
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test func `a file that shrank is fetched anew`() async throws {
        let shrunk = ServedFile(TestContent(seed: 11, count: 200_000), entityTag: "\"v2\"")
        try await resuming(then: { request in
            guard request["Range"] != nil else { return shrunk.answer(to: request) }
            let fields = [("Content-Range", "bytes */200000"), ("Content-Length", "0")]
            return [.head("416 Range Not Satisfiable", fields + [("ETag", "\"v2\"")])]
        }) { site, journal, _ in
            expectComplete(shrunk.content, site, journal)
        }
    }
}

/// The first bytes behind the cut.
private let tenBytes = Sample.content.bytes(in: Sample.cut..<(Sample.cut + 10))
