// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting
import iDownloader

/// Bodies that come encoded although they were asked for as they are.
@Suite(.timeLimit(.minutes(5))) struct ContentEncodingTests {
    private static let packed = TestContent(gzip(Sample.content.bytes))
    private static let fields = [("Content-Encoding", "gzip"), ("ETag", "\"v1\"")]

    @Test func `an encoded body is decoded`() async throws {
        try await withServer({ _ in whole(Self.packed, Self.fields) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.count == 1)
                #expect(server.requests.allSatisfy { $0["Accept-Encoding"] == "identity" })
                #expect(server.requests.allSatisfy { $0["Range"] == nil })
            }
        }
    }

    @Test func `a server that has the file only encoded is asked again and may encode it`()
        async throws
    {
        // Apache with MultiViews answers like this.
        try await withServer({ request in
            request["Accept-Encoding"] == "identity"
                ? [.head("406 Not Acceptable", [("Content-Length", "0")])]
                : whole(Self.packed, Self.fields)
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(Sample.content, site, journal)
                #expect(
                    server.requests.map { $0["Accept-Encoding"] } == [
                        "identity", "identity, *;q=0.5",
                    ]
                )
            }
        }
    }

    @Test func `a server that accepts neither has answered for good`() async throws {
        let refusal = [Step.head("406 Not Acceptable", [("Content-Length", "0")])]
        try await withServer({ _ in refusal }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectFailure(.serverBadResponse, isTransient: false, site, journal)
                #expect(server.requests.count == 2)
            }
        }
    }

    @Test(arguments: [5, 3_000_000])
    func `a body with the Transfer-Encoding identity ends after its length`(
        count: Int
    ) async throws {
        let content = TestContent(seed: 12, count: Int64(count))
        let fields = [("Transfer-Encoding", "identity"), ("Content-Length", "\(count)")]
        let steps = [Step.head("200 OK", fields), .sendPattern(content, 0..<Int64(count)), .stall]
        try await withServer({ _ in steps }) { server in
            try await withSite { site in
                let start = ContinuousClock.now
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(content, site, journal)
                // Silence ends a download after a minute.
                #expect(ContinuousClock.now - start < .seconds(50))
            }
        }
    }

    @Test(arguments: ["file.zip", "file.tar.xz", "file.br", "file.zst"])
    func `one that is compressed otherwise is decoded`(name: String) async throws {
        try await withServer({ _ in whole(Self.packed, Self.fields) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/\(name)"))
                expectComplete(Sample.content, as: name, site, journal)
            }
        }
    }

    @Test(arguments: ["file.tar.gz", "file.TGZ", "file.svgz"])
    func `a file whose own compression is its coding is kept as it comes`(
        name: String
    ) async throws {
        try await withServer({ _ in whole(Self.packed, Self.fields) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/\(name)"))
                expectComplete(Self.packed, as: name, site, journal)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func `a file whose type is a compressed one is kept as it comes`() async throws {
        let fields = Self.fields + [("Content-Type", "application/gzip")]
        try await withServer({ _ in whole(Self.packed, fields) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/download"))
                let name = try #require(journal.record.file?.name)
                expectComplete(Self.packed, as: name, site, journal)
            }
        }
    }

    private static func disposition(_ name: String) -> (String, String) {
        ("Content-Disposition", "attachment; filename=\"\(name)\"")
    }

    @Test func `a file that the server names as compressed is kept as it comes`() async throws {
        let fields = Self.fields + [Self.disposition("pack.tar.gz")]
        try await withServer({ _ in whole(Self.packed, fields) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/download"))
                expectComplete(Self.packed, as: "pack.tar.gz", site, journal)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func `a file that the client names as compressed is kept as it comes`() async throws {
        let fields = Self.fields + [Self.disposition("page.html")]
        try await withServer({ _ in whole(Self.packed, fields) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/download")) {
                    $0.fileName = "pack.tgz"
                }
                expectComplete(Self.packed, as: "pack.tgz", site, journal)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func `a file that has such a name keeps its bytes in later answers`() async throws {
        let named = Self.labelled.with { $0.fields.append(Self.disposition("pack.tar.gz")) }
        try await withServer({ request in
            request.number == 1 ? named.cutOff() : Self.labelled.withoutRanges(request)
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/download"))
                expectFailure(.serverTruncated, isTransient: true, site, journal)
                try await site.run(journal)
                expectComplete(Self.packed, as: "pack.tar.gz", site, journal)
            }
        }
    }

    /// A file that its server calls encoded in every answer, as Apache does by AddEncoding: the
    /// ranges are those of the encoded bytes (RFC 9110 section 14).
    private static let labelled = ServedFile(packed).with {
        $0.fields = [("Content-Encoding", "gzip")]
    }

    @Test(arguments: ["gzip", "x-gzip"])
    func `a compressed file that was cut off goes on where it ended`(coding: String) async throws {
        let file = Self.labelled.with { $0.fields = [("Content-Encoding", coding)] }
        try await withServer({ $0.number == 1 ? file.cutOff() : file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/pack.tar.gz"))
                expectFailure(.serverTruncated, isTransient: true, site, journal)
                try await site.run(journal)
                expectComplete(Self.packed, as: "pack.tar.gz", site, journal)
                #expect(server.requests.map { $0["Range"] } == [nil, "bytes=400003-"])
                #expect(server.requests.last?["If-Range"] == "\"v1\"")
                #expect(journal.record.integrity == .validators)
            }
        }
    }

    @Test func `a slice that somebody compresses on the way is none of the file's`() async throws {
        let file = ServedFile(Self.packed)
        try await withServer({ request in
            if request.number == 1 { return file.cutOff() }
            guard let range = request.range(of: Self.packed.count) else {
                return file.answer(to: request)
            }
            let slice = Array(gzip(Array(Self.packed.bytes[Int(range.lowerBound)...])))
            let span = "\(range.lowerBound)-\(range.upperBound - 1)/\(Self.packed.count)"
            return [
                .head(
                    "206 Partial Content",
                    [
                        ("ETag", "\"v1\""), ("Content-Encoding", "gzip"),
                        ("Content-Range", "bytes \(span)"), ("Transfer-Encoding", "chunked"),
                    ]
                ), .text(String(slice.count, radix: 16) + "\r\n"), .send(slice),
                .text("\r\n0\r\n\r\n"),
            ]
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/pack.tar.gz"))
                expectFailure(.serverTruncated, isTransient: true, site, journal)
                try await site.run(journal)
                expectComplete(Self.packed, as: "pack.tar.gz", site, journal)
            }
        }
    }

    @Test func `a compressed file that was replaced is fetched anew`() async throws {
        let other = TestContent(gzip(Sample.replaced.bytes))
        let replaced = ServedFile(other, entityTag: "\"v2\"").with {
            $0.fields = [("Content-Encoding", "gzip")]
        }
        for pays in [true, false] {
            try await withServer({ request in
                guard request.number > 1 else { return Self.labelled.cutOff() }
                return pays ? replaced.answer(to: request) : replaced.withoutConditions(request)
            }) { server in
                try await withSite { site in
                    let journal = try await site.download(server.url("/pack.tar.gz"))
                    expectFailure(.serverTruncated, isTransient: true, site, journal)
                    try await site.run(journal)
                    expectComplete(other, as: "pack.tar.gz", site, journal)
                }
            }
        }
    }

    @Test func `a compressed file comes from nginx by several connections`() async throws {
        try await withTemporaryFolder { root in
            try Large.content.write(toFile: root + "/pack.tar.gz")
            try await withNginx(
                root: root,
                locationDirectives: "limit_rate 1m; add_header Content-Encoding gzip;",
                extraConfig: "access_log \(root)/access.log;"
            ) { nginx in
                try await withSite { site in
                    let journal = try await site.download(nginx.url("/pack.tar.gz")) {
                        $0.connections = 4
                    }
                    expectComplete(Large.content, as: "pack.tar.gz", site, journal)
                }
            }
            // It says what it did when a connection is over, and all are now.
            let log = try TestFile.text(of: root + "/access.log")
            #expect(log.contains(" 206 "), "\(log)")
        }
    }

    @Test(arguments: [true, false])
    func `behind a compressed file's path another name's file is decoded`(
        isServersName: Bool
    ) async throws {
        let fields = Self.fields + (isServersName ? [Self.disposition("page.html")] : [])
        try await withServer({ _ in whole(Self.packed, fields) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/x.gz")) {
                    $0.fileName = isServersName ? nil : "page.html"
                }
                expectComplete(Sample.content, as: "page.html", site, journal)
            }
        }
    }

    @Test func `an encoded body that is cut off is fetched anew, without a range`() async throws {
        try await withServer({ request in
            guard request.number == 1 else { return whole(Self.packed, Self.fields) }
            let length = [("Content-Length", "\(Self.packed.count)")]
            return [
                .head("200 OK", Self.fields + length),
                .sendPattern(Self.packed, 0..<500_000), .close,
            ]
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectFailure(.serverTruncated, isTransient: true, site, journal)
                expectTrueClaims(Sample.content, site, journal)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.allSatisfy { $0["Range"] == nil })
            }
        }
    }

    private static func encoded(_ body: [UInt8], _ coding: String) -> [Step] {
        whole(TestContent(body), [("Content-Encoding", coding)])
    }

    @Test(arguments: EncodedSample.all)
    func `each coding is taken off`(sample: EncodedSample) async throws {
        try await withServer({ _ in Self.encoded(sample.bytes, sample.field) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(TestContent(EncodedSample.text), site, journal)
            }
        }
    }

    @Test(arguments: EncodedSample.all)
    func `an encoded body that ends too early is fetched again, although its length is right`(
        sample: EncodedSample
    ) async throws {
        for count in [3, sample.bytes.count / 2, sample.bytes.count - 1] {
            try await withServer({ request in
                let count = request.number == 1 ? count : sample.bytes.count
                return Self.encoded(Array(sample.bytes.prefix(count)), sample.field)
            }) { server in
                try await withSite { site in
                    let journal = try await site.download(server.url("/file.bin"))
                    expectFailure(.serverTruncated, isTransient: true, site, journal)
                    let message = journal.record.failure?.message ?? ""
                    #expect(message.contains("the compressed body has no end"), "\(message)")
                    expectTrueClaims(TestContent(EncodedSample.text), site, journal)
                    try await site.run(journal)
                    expectComplete(TestContent(EncodedSample.text), site, journal)
                    #expect(server.requests.count == 2)
                }
            }
        }
    }

    @Test func `a damaged encoded body is no file`() async throws {
        var bytes = Self.packed.bytes
        bytes[bytes.count - 8] ^= 1
        try await withServer({ [bytes] _ in Self.encoded(bytes, "gzip") }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectFailure(.serverBadResponse, isTransient: false, site, journal)
                let message = journal.record.failure?.message ?? ""
                #expect(message.contains("compressed answer is damaged"), "\(message)")
            }
        }
    }

    @Test(arguments: ContentCoding.allCases)
    func `an encoded body without a byte is an empty file`(coding: ContentCoding) async throws {
        try await withServer({ _ in Self.encoded([], coding.rawValue) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(TestContent([]), site, journal)
            }
        }
    }

    @Test func `an encoded body without a byte or a length is fetched again`() async throws {
        let fields = [("Content-Encoding", "gzip")]
        try await withServer({ request in
            request.number == 1
                ? [.head("200 OK", fields), .close] : Self.encoded(Self.packed.bytes, "gzip")
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectFailure(.serverTruncated, isTransient: true, site, journal)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test func `an encoded body of no chunks is an empty file`() async throws {
        let fields = [("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")]
        try await withServer({ _ in [.head("200 OK", fields), .chunk([])] }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(TestContent([]), site, journal)
            }
        }
    }

    @Test func `an encoded part is not stored`() async throws {
        try await resuming(then: { request in
            guard request["Range"] != nil else { return Sample.file.withoutRanges(request) }
            let fields = Sample.restFields + [("Content-Encoding", "gzip")]
            let rest = Sample.cut..<Sample.content.count
            return [.head("206 Partial Content", fields), .sendPattern(Sample.replaced, rest)]
        }) { site, journal, requests in
            expectComplete(Sample.content, site, journal)
            #expect(requests.map { $0["Range"] } == ["bytes=400003-", nil])
        }
    }

    @Test func `what cannot be decoded is no file`() async throws {
        let fields = [("Content-Encoding", "gzip")]
        try await withServer({ _ in whole(Sample.content, fields) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectFailure(.serverBadResponse, isTransient: false, site, journal)
            }
        }
    }

    @Test func `an encoding that nobody knows is left as it is`() async throws {
        let fields = [("Content-Encoding", "unheard-of")]
        try await withServer({ _ in whole(Sample.content, fields) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    /// Behind a few bytes that came, a million times as many may wait.
    @Test func `a body that decodes to very much more arrives`() async throws {
        let bomb = TestContent(gzipOf72MiBOfZeros())
        try await withServer({ _ in whole(bomb, Self.fields) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                #expect(journal.record.state == .completed, "\(journal.record)")
                #expect(journal.record.segments.byteCount == 72 << 20)
            }
        }
    }
}
