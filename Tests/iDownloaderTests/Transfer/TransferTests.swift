// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting
import iDownloader

/// Downloads in which nothing goes wrong.
@Suite(.timeLimit(.minutes(5))) struct TransferTests {
    private static let writeSize: Int64 = 256 << 10

    @Test(arguments: [0, 1, writeSize - 1, writeSize, writeSize + 1, 5_000_000])
    func `a file of any size arrives whole`(count: Int64) async throws {
        let content = TestContent(seed: UInt64(count), count: count)
        try await withServer({ ServedFile(content).answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(content, site, journal)
                let isSmall = (1...65_536).contains(count)
                #expect(
                    journal.kinds
                        == (isSmall ? [.arrived, .completed] : [.opened, .publishing, .completed])
                )
                #expect(journal.record.integrity == .validators)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func `the first request is a plain GET`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                _ = try await site.download(server.url("/file.bin?key=1"))
                let request = await server.waitForRequest()
                #expect(request.method == "GET")
                #expect(request.target == "/file.bin?key=1")
                #expect(request["Range"] == nil)
                #expect(request["If-Range"] == nil)
                #expect(request["Accept-Encoding"] == "identity")
                #expect(request["User-Agent"] == "idown-test/1")
            }
        }
    }

    @Test func `the client's fields, referrer, agent and login go out`() async throws {
        try await withServer(guarded { Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                let url = "http://me:secret@127.0.0.1:\(server.port)/file.bin"
                let journal = try await site.download(url) { request in
                    request.headers = [.init(name: "X-Key", value: "k")]
                    request.referrer = "http://example.org/page"
                    request.userAgent = "other/2"
                }
                expectComplete(Sample.content, site, journal)
                let request = await server.waitForRequest(count: 2)
                #expect(request["X-Key"] == "k")
                #expect(request["Referer"] == "http://example.org/page")
                #expect(request["User-Agent"] == "other/2")
                #expect(request["Authorization"] == "Basic bWU6c2VjcmV0")
            }
        }
    }

    @Test(arguments: ["Referer", "referer", "REFERER"])
    func `a referrer among the client's fields goes out alone`(name: String) async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin")) { request in
                    request.headers = [.init(name: name, value: "http://example.org/field")]
                    request.referrer = "http://example.org/option"
                }
                expectComplete(Sample.content, site, journal)
                let request = await server.waitForRequest()
                let sent = request.fields.filter { $0.name.lowercased() == "referer" }
                #expect(sent.map { $0.value } == ["http://example.org/field"])
            }
        }
    }

    @Test(arguments: [0, 1, 700_001] as [Int64])
    func `a body without length ends with the connection`(count: Int64) async throws {
        let content = TestContent(seed: 1, count: count)
        try await withServer({ _ in
            [.head("200 OK", []), .sendPattern(content, 0..<count), .close]
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(content, site, journal)
                #expect(journal.record.integrity == Integrity.none)
            }
        }
    }

    @Test func `without a length no tag vouches for the end of a file`() async throws {
        // The connection may as well have been cut: ladder, rule 8.
        try await withServer({ _ in
            [.head("200 OK", [("ETag", "\"v1\"")]), .text("a beginning"), .close]
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                #expect(journal.record.state == .completed)
                #expect(journal.record.integrity == Integrity.none)
            }
        }
    }

    @Test func `a length without a strong validator is all that is known`() async throws {
        try await withServer({ _ in
            whole(Sample.content, [("ETag", "W/\"v1\"")])
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(Sample.content, site, journal)
                #expect(journal.record.integrity == .length)
            }
        }
    }

    @Test(arguments: [0, 1, 3])
    func `chunks arrive whole, and trailers change nothing`(count: Int) async throws {
        let content = TestContent(seed: 3, count: Int64(count) * 100_000)
        try await withServer({ _ in
            let head = Step.head("200 OK", [("Transfer-Encoding", "chunked"), ("ETag", "\"v1\"")])
            let chunks = (0..<Int64(count)).map { index in
                Step.chunk(content.bytes(in: index * 100_000..<(index + 1) * 100_000))
            }
            let trailers = [("ETag", "\"v2\""), ("Content-Length", "-1"), ("Location", "/x")]
            return [head] + chunks + [.lastChunk(trailers: trailers)]
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(content, site, journal)
                #expect(journal.record.remote.entityTag?.opaque == "\"v1\"")
            }
        }
    }

    @Test func `answers before the answer are passed over`() async throws {
        try await withServer({ request in
            [
                .rawHead("HTTP/1.1 103 Early Hints\r\nETag: \"hint\"\r\n\r\n"),
                .rawHead("HTTP/1.1 100 Continue\r\nContent-Length: 7\r\n\r\n"),
            ] + Sample.file.answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(Sample.content, site, journal)
                #expect(journal.record.remote.entityTag?.opaque == "\"v1\"")
            }
        }
    }

    @Test func `what runs is seen to run`() async throws {
        let hold = ServedFile.Hold(afterBytes: Sample.cut)
        let file = Sample.file.with { $0.hold = hold }
        try await withServer({ file.answer(to: $0) }) { server in
            try await withSite(checkpointInterval: .milliseconds(1)) { site in
                let journal = try site.task(server.url("/file.bin"))
                let transfer = try site.start(journal)
                await journal.waitUntil { $0.segments.byteCount == Sample.cut }
                #expect(transfer.live.activity == .transferring)
                #expect(transfer.live.connections == 1)
                #expect(transfer.live.bytes == Sample.cut)
                #expect(transfer.live.total == Sample.content.count)
                hold.until.open()
                await transfer.ended()
                expectComplete(Sample.content, site, journal)
                #expect(transfer.live.connections == 0)
                #expect(transfer.live.bytes == Sample.content.count)
            }
        }
    }

    @Test func `a URL that is none fails, and nothing is made`() async throws {
        try await withSite { site in
            let journal = try await site.download("http://")
            expectFailure(.serverBadResponse, isTransient: false, site, journal)
            #expect(site.files.isEmpty)
        }
    }
}
