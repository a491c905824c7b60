// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

/// Links that have had their time, and fresh ones in their place.
@Suite(.timeLimit(.minutes(1))) struct ExpiredLinkTests {
    private static let page: [Step] = [
        .head("200 OK", [("Content-Type", "text/html"), ("Content-Length", "15")]),
        .text("<html>no</html>"),
    ]

    @Test func `a page in place of the file is not stored, and nothing is lost`() async throws {
        try await resuming(then: { _ in Self.page }) { site, journal, requests in
            expectFailure(.serverForbidden, isTransient: false, site, journal)
            #expect(requests.count == 1)
            #expect(journal.record.segments.prefixLength == Sample.cut)
            expectTrueClaims(Sample.content, site, journal)
        }
    }

    @Test func `a page is not stored where no byte of the file is recorded`() async throws {
        try await withServer({ request in
            request.number == 1 ? Sample.file.cutOff() : Self.page
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                // As a crash leaves it that comes before the first checkpoint.
                journal.before { event, _ in
                    if case .checkpointed = event { return false }
                    return true
                }
                try await site.run(journal)
                journal.stepBack()
                #expect(journal.record.file != nil)
                #expect(journal.record.segments.isEmpty)
                #expect(journal.record.remote.total == Sample.content.count)
                #expect(journal.record.remote.entityTag?.opaque == "\"v1\"")
                try await site.run(journal)
                expectFailure(.serverForbidden, isTransient: false, site, journal)
                // A fresh link brings the file all the same.
                try await withServer({ Sample.file.answer(to: $0) }) { other in
                    try journal.setURL(other.url("/file.bin"))
                    try await site.run(journal)
                    expectComplete(Sample.content, site, journal)
                }
            }
        }
    }

    /// What ends an attempt after the first answer and before there is a file.
    enum Wait: CaseIterable, Sendable { case noRoom, noRoomForSmallFile, metered, noByte }

    @Test(arguments: Wait.allCases)
    func `a page is not stored where the file had to wait before it was made`(wait: Wait)
        async throws
    {
        let content = wait == .metered ? Sample.content : TestContent(seed: 7, count: 1000)
        let huge = [
            ("Content-Length", "\(1 << 50)"), ("ETag", "\"v1\""),
            ("Content-Type", "application/zip"),
        ]
        try await withServer({ request in
            switch request.number {
            case 1 where wait == .noRoom: [.head("200 OK", huge), .text("x"), .stall]
            case 1 where wait == .noByte: ServedFile(content).cutOff(at: 0)
            case 2: Self.page
            default: ServedFile(content).answer(to: request)
            }
        }) { server in
            let full = FaultPlan(failing: 1, of: "pwrite", with: ENOSPC)
            try await withSite(faults: wait == .noRoomForSmallFile ? full : nil) { site in
                let journal = try site.task(server.url("/file.bin"))
                journal.before { event, journal in
                    guard wait == .metered, case .opened = event else { return true }
                    journal.apply(.held(by: .hold(.metered)))
                    return true
                }
                try await site.run(journal)
                journal.stepBack()
                #expect(journal.record.state.kind == .waiting)
                #expect(journal.record.file == nil)
                #expect(site.files.isEmpty)
                try await site.run(journal)
                expectFailure(.serverForbidden, isTransient: false, site, journal)
                // What is a file is one all the same, also another one.
                try await site.run(journal)
                expectComplete(content, site, journal)
            }
        }
    }

    @Test func `a page is not stored where the file was paused before its first byte`()
        async throws
    {
        let sent = Gate()
        let fields = Sample.file.fieldsOfAnswer + [("Content-Length", "\(Sample.content.count)")]
        try await withServer({ request in
            switch request.number {
            case 1: [.head("200 OK", fields), .open(sent), .stall]
            case 2: Sample.file.answer(to: request)
            default: Self.page
            }
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                let transfer = try site.start(journal)
                await sent.waitUntilOpen()
                // The thread that reads this answer has read the head before.
                try await site.run(site.task(server.url("/other.bin"), id: 2))
                try journal.apply(.pause)
                transfer.stop()
                await transfer.ended()
                #expect(journal.record.remote.total == Sample.content.count)
                try await site.run(journal)
                #expect(journal.record.failure?.code == .serverForbidden)
                #expect(site.files == ["other.bin"])
            }
        }
    }

    @Test(arguments: ["text/plain", "application/json", "application/xml"])
    func `a page in place of text is not stored`(type: String) async throws {
        let text = Sample.file.with { $0.contentType = type }
        try await resuming(text, then: { _ in Self.page }) { site, journal, requests in
            expectFailure(.serverForbidden, isTransient: false, site, journal)
            #expect(requests.count == 1)
            #expect(journal.record.segments.prefixLength == Sample.cut)
            expectTrueClaims(Sample.content, site, journal)
        }
    }

    @Test(arguments: ["text/plain", "application/json", "application/xml"])
    func `a fresh link at another server goes on, whatever that calls the bytes`(
        type: String
    ) async throws {
        let fresh = Sample.file.with {
            $0.contentType = type
            $0.entityTag = "\"other\""
        }
        try await interrupting { site, journal, _ in
            try await withServer({ fresh.answer(to: $0) }) { other in
                try journal.setURL(other.url("/fresh"))
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
                expectProof(in: other.requests)
                #expect(journal.record.remote.mimeType == "application/octet-stream")
            }
        }
    }

    @Test(arguments: ["\"v1\"", "\"other\"", "W/\"v1\"", nil])
    func `a fresh link goes on by proof, whatever its tag`(tag: String?) async throws {
        let fresh = Sample.file.with { $0.entityTag = tag }
        try await withServer({ request in
            guard request.path == "/old" else { return fresh.answer(to: request) }
            return request.number == 1 ? Sample.file.cutOff() : Self.page
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/old"))
                try await site.run(journal)
                try await site.run(journal)
                #expect(journal.record.failure?.code == .serverForbidden)
                try journal.setURL(server.url("/file.bin?token=2"))
                try await site.run(journal)
                expectComplete(Sample.content, as: "old", site, journal)
                expectProof(in: Array(server.requests.dropFirst(2)))
                #expect(journal.record.integrity == .length)
                #expect(!journal.record.remote.needsProof)
            }
        }
    }

    @Test(arguments: [true, false])
    func `behind a fresh link that leads to another file all is fetched`(
        hasSameLength: Bool
    ) async throws {
        let content = hasSameLength ? Sample.replaced : TestContent(seed: 14, count: 600_000)
        let other = ServedFile(content)
        try await withServer({ request in
            request.path == "/old" ? Sample.file.cutOff() : other.answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/old"))
                try await site.run(journal)
                try journal.setURL(server.url("/new"))
                try await site.run(journal)
                expectComplete(content, as: "old", site, journal)
                #expect(journal.record.integrity == .validators)
            }
        }
    }

    @Test func `a byte that differs right before the resume point is seen`() async throws {
        var bytes = Sample.content.bytes
        bytes[Int(Sample.cut) - 1] ^= 1
        let other = ServedFile(TestContent(bytes), entityTag: nil)
        try await resuming(
            Sample.file.with { $0.entityTag = nil },
            then: { other.answer(to: $0) },
            hook: { event, journal in
                if case .opened(_, _, let kept) = event { #expect(kept.isEmpty) }
                return true
            }
        ) { site, journal, requests in
            expectComplete(other.content, site, journal)
            #expect(requests.count == 4)
            #expect(requests.last?["Range"] == nil)
        }
    }

    @Test func `a proof that is cut off proves nothing`() async throws {
        let bare = Sample.file.with { $0.entityTag = nil }
        let start = Sample.cut - OverlapProof.overlap
        try await resuming(
            bare,
            then: { request in
                guard request.range(of: Sample.content.count)?.lowerBound == start else {
                    return bare.answer(to: request)
                }
                let steps = bare.answer(to: request).dropLast()
                return steps + [.sendPattern(Sample.content, start..<(Sample.cut - 1)), .close]
            }
        ) { site, journal, _ in
            expectFailure(.serverTruncated, isTransient: true, site, journal)
            #expect(journal.record.segments.prefixLength == Sample.cut)
            #expect(!journal.record.remote.restsOnProof)
            expectTrueClaims(Sample.content, site, journal)
        }
    }

    @Test func `the new version is on record before anything is written behind the proof`()
        async throws
    {
        let new = Sample.file.with { $0.entityTag = "W/\"v1\"" }
        try await resuming(
            then: { new.answer(to: $0) },
            hook: { event, journal in
                if case .opened(let file, let version, let kept) = event {
                    #expect(version.restsOnProof)
                    #expect(version.entityTag?.isWeak == true)
                    #expect(kept == journal.record.segments)
                    #expect(journal.record.remote.entityTag?.isWeak == false)
                    #expect(file == journal.record.file)
                }
                return true
            }
        ) { site, journal, _ in
            expectComplete(Sample.content, site, journal)
            #expect(journal.kinds.filter { $0 == .opened }.count == 2)
        }
    }

    @Test func `a host that sends all of it proves as it goes, and keeps what is equal`()
        async throws
    {
        var bytes = Sample.replaced.bytes
        bytes.replaceSubrange(0..<100_000, with: Sample.content.bytes(in: 0..<100_000))
        let other = ServedFile(TestContent(bytes), entityTag: nil)
        try await resuming(
            Sample.file.with { $0.entityTag = nil },
            then: { other.withoutRanges($0) },
            hook: { event, journal in
                if case .opened(_, _, let kept) = event { #expect(kept.prefixLength == 100_000) }
                return true
            }
        ) { site, journal, requests in
            expectComplete(other.content, site, journal)
            #expect(requests.count == 1)
        }
    }

    // MARK: Redirects

    @Test(arguments: ["401 Unauthorized", "403 Forbidden", "404 Not Found", "410 Gone"])
    func `where a redirect led to is asked for once more through the original URL`(
        status: String
    ) async throws {
        try await withServer({ request in
            switch request.path {
            case "/file.bin":
                let target = request.number < 5 ? "/stale" : "/fresh"
                return [.head("302 Found", [("Location", target), ("Content-Length", "0")])]
            case "/stale" where request.number == 2: return Sample.file.cutOff()
            case "/stale": return [.head(status, [("Content-Length", "0")])]
            default: return Sample.file.answer(to: request)
            }
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                try await site.run(journal)
                try await site.run(journal)
                expectComplete(Sample.content, as: "stale", site, journal)
                let paths = ["/file.bin", "/stale", "/file.bin", "/stale", "/file.bin", "/fresh"]
                #expect(server.requests.map(\.path).prefix(6) == paths[...])
                // The bytes of another path are compared, and no more than these are asked for.
                #expect(server.requests.allSatisfy { $0.number < 3 || $0["Range"] != nil })
            }
        }
    }

    /// libcurl sends a request again whose connection ends before the answer.
    @Test func `a link used up without an answer is asked for once more`() async throws {
        try await withServer({ request in
            switch request.path {
            case "/file.bin":
                let target = request.number == 1 ? "/once" : "/fresh"
                return [.head("302 Found", [("Location", target), ("Content-Length", "0")])]
            case "/once" where request.number == 2: return [.reset]
            case "/once": return [.head("410 Gone", [("Content-Length", "0")])]
            default: return Sample.file.answer(to: request)
            }
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(Sample.content, as: "fresh", site, journal)
                #expect(server.requests.map(\.path).suffix(2) == ["/file.bin", "/fresh"])
                #expect(journal.record.tries == 0)
            }
        }
    }

    @Test func `the original URL is asked once more and no more than once`() async throws {
        try await withServer({ request in
            switch request.path {
            case "/file.bin":
                [.head("302 Found", [("Location", "/stale"), ("Content-Length", "0")])]
            case _ where request.number == 2: Sample.file.cutOff()
            default: [.head("403 Forbidden", [("Content-Length", "0")])]
            }
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                try await site.run(journal)
                try await site.run(journal)
                // It may be a limit of connections, too.
                expectFailure(.serverForbidden, isTransient: true, site, journal)
                #expect(server.requests.count == 6)
                #expect(journal.record.segments.prefixLength == Sample.cut)
            }
        }
    }

    @Test func `a host that has served the task must forbid it three times over 15 s`()
        async throws
    {
        let clock = ForwardClock()
        try await withServer({ request in
            request.number == 1
                ? Sample.file.cutOff() : [.head("403 Forbidden", [("Content-Length", "0")])]
        }) { server in
            try await withSite(time: clock.time) { site in
                let journal = try site.task(server.url("/file.bin"))
                try await site.run(journal)
                // The first refusal, and two more after 4 and 14 s.
                for wait in [0, 4, 10] {
                    clock.advance(by: .seconds(wait))
                    try await site.run(journal)
                    expectFailure(.serverForbidden, isTransient: true, site, journal)
                }
                clock.advance(by: .seconds(1))
                try await site.run(journal)
                expectFailure(.serverForbidden, isTransient: false, site, journal)
                #expect(journal.record.segments.prefixLength == Sample.cut)
                // A fresh link that the host has never served is refused at once.
                try journal.setURL(server.url("/other.bin"))
                try await site.run(journal)
                expectFailure(.serverForbidden, isTransient: false, site, journal)
            }
        }
    }

    @Test func `after a restart of the service, too, one 403 is not believed, but three are`()
        async throws
    {
        let clock = ForwardClock()
        try await withServer({ request in
            request.number == 1
                ? Sample.file.cutOff() : [.head("403 Forbidden", [("Content-Length", "0")])]
        }) { server in
            try await withSite { first in
                let journal = try first.task(server.url("/file.bin"))
                try await first.run(journal)
                try await withSite(in: first.folder, time: clock.time) { site in
                    for wait in [0, 14] {
                        clock.advance(by: .seconds(wait))
                        try await site.run(journal)
                        expectFailure(.serverForbidden, isTransient: true, site, journal)
                    }
                    clock.advance(by: .seconds(1))
                    try await site.run(journal)
                    expectFailure(.serverForbidden, isTransient: false, site, journal)
                    #expect(journal.record.segments.prefixLength == Sample.cut)
                }
            }
        }
    }

    @Test func `a host that has served ranges is not asked for the whole where it forbids one`()
        async throws
    {
        try await withServer({ request in
            switch request.number {
            case 1: Sample.file.cutOff()
            case 2:
                [
                    .head("206 Partial Content", Sample.restFields),
                    .sendPattern(Sample.content, Sample.cut..<(Sample.cut + 10_000)), .close,
                ]
            case 3: [.head("403 Forbidden", [("Content-Length", "0")])]
            default: Sample.file.answer(to: request)
            }
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                for _ in 0..<3 { try await site.run(journal) }
                expectFailure(.serverForbidden, isTransient: true, site, journal)
                #expect(server.requests.count == 3)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.last?["Range"] == "bytes=\(Sample.cut + 10_000)-")
            }
        }
    }

    @Test func `what the original URL says itself is believed at once`() async throws {
        let gone: [Step] = [.head("404 Not Found", [("Content-Length", "0")])]
        try await resuming(then: { _ in gone }) { site, journal, requests in
            expectFailure(.serverNotFound, isTransient: false, site, journal)
            #expect(requests.count == 1)
        }
    }
}
