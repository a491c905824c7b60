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
                #expect(server.requests.allSatisfy { $0["Accept-Encoding"] == "identity" })
                #expect(server.requests.allSatisfy { $0["Range"] == nil })
            }
        }
    }

    @Test(arguments: ["file.tar.gz", "file.TGZ", "file.zip"])
    func `a file that is itself compressed is kept as it comes`(name: String) async throws {
        try await withServer({ _ in whole(Self.packed, Self.fields) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/\(name)"))
                expectComplete(Self.packed, as: name, site, journal)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func `so is one whose type says so`() async throws {
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

    @Test func `so is one that the server calls so`() async throws {
        let fields = Self.fields + [Self.disposition("pack.tar.gz")]
        try await withServer({ _ in whole(Self.packed, fields) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/download"))
                expectComplete(Self.packed, as: "pack.tar.gz", site, journal)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func `so is one that the client calls so, whatever the server does`() async throws {
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
        try await withServer({ request in
            guard request.number == 1 else { return whole(Self.packed, Self.fields) }
            let length = [("Content-Length", "\(Self.packed.count)")]
            let name = [Self.disposition("pack.tar.gz")]
            return [
                .head("200 OK", Self.fields + length + name),
                .sendPattern(Self.packed, 0..<500_000), .close,
            ]
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/download"))
                expectFailure(.serverTruncated, isTransient: true, site, journal)
                try await site.run(journal)
                expectComplete(Self.packed, as: "pack.tar.gz", site, journal)
                #expect(server.requests.count == 2)
            }
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
            guard request.number <= 2 else { return whole(Self.packed, Self.fields) }
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
