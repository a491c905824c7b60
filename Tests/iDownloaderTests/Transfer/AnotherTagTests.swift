// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting
import iDownloader

/// Another ETag on a file of the same length and without a date: mostly another file, at
/// some hosts the same one.
@Suite(.timeLimit(.minutes(5))) struct AnotherTagTests {
    /// Below what may be given up without asking, and above it.
    private static let (small, large): (Int64, Int64) = (8 << 20, 40 << 20)
    private static let smallBytes = TestContent(seed: 61, count: small).bytes
    private static let largeBytes = TestContent(seed: 62, count: large).bytes

    /// The same file but for one block of 4 KiB.
    private static func changing(_ bytes: [UInt8], at offset: Int) -> TestContent {
        var bytes = bytes
        for index in offset..<min(bytes.count, offset + 4096) { bytes[index] ^= 0x5A }
        return TestContent(bytes)
    }

    /// Interrupts a download at its middle, and runs attempts until one comes to an end.
    ///
    /// - Parameters:
    ///   - file: the file of the first request.
    ///   - site: where it is downloaded to.
    ///   - attempts: how many more are run at most.
    ///   - answer: what all later requests are answered with.
    /// - Returns: the task, and the requests of the later attempts.
    /// - Throws: what keeps the server or the site from working.
    private func resume(
        _ file: ServedFile,
        _ site: Site,
        attempts: Int = 1,
        then answer: @escaping @Sendable (RecordedRequest) -> [Step]
    ) async throws -> (RecordingJournal, [RecordedRequest]) {
        try await withServer({ request in
            request.number == 1 ? file.cutOff(at: file.content.count / 2) : answer(request)
        }) { server in
            let journal = try site.task(server.url("/file.bin"))
            try await site.run(journal)
            #expect(journal.record.segments.prefixLength == file.content.count / 2)
            for _ in 0..<attempts where journal.record.state != .completed {
                try await site.run(journal)
            }
            return (journal, Array(server.requests.dropFirst()))
        }
    }

    /// The file is complete; what it holds instead is too long to be shown.
    private func expectWhole(
        _ content: TestContent,
        as name: String = "file.bin",
        _ site: Site,
        _ journal: RecordingJournal,
        _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let (state, isWhole) = (journal.record.state, site.holds(content, as: name))
        #expect(state == .completed, comment, sourceLocation: sourceLocation)
        #expect(isWhole, comment, sourceLocation: sourceLocation)
    }

    @Test func `a file that differs in one block is never mixed, wherever the block lies`()
        async throws
    {
        var dice = SeededGenerator(seed: 200)
        for number in 0..<200 {
            let offset = Int.random(in: 0..<Self.smallBytes.count, using: &dice)
            let content = Self.changing(Self.smallBytes, at: offset)
            let obeys = number % 2 == 0
            // A weak tag never goes into If-Range.
            let isWeak = number % 4 > 1
            let mark = isWeak ? "W/" : ""
            let old = ServedFile(TestContent(Self.smallBytes), entityTag: mark + "\"v1\"")
            let new = ServedFile(content, entityTag: mark + "\"v2\"")
            try await withSite { site in
                let (journal, requests) = try await resume(old, site) { request in
                    obeys ? new.answer(to: request) : new.withoutConditions(request)
                }
                expectWhole(content, site, journal, "the block at \(offset)")
                #expect(journal.record.integrity == (isWeak ? .length : .validators))
                // A host that obeys If-Range brings the new file with its first answer.
                #expect(requests.count == (obeys && !isWeak ? 1 : 2))
            }
        }
    }

    @Test func `before much is given up, three new connections are asked for the tag`()
        async throws
    {
        let old = ServedFile(TestContent(Self.largeBytes))
        let content = Self.changing(Self.largeBytes, at: 3 << 20)
        let new = ServedFile(content, entityTag: "\"v2\"")
        for obeys in [true, false] {
            try await withSite { site in
                let (journal, requests) = try await resume(old, site) { request in
                    obeys ? new.answer(to: request) : new.withoutConditions(request)
                }
                expectWhole(content, site, journal)
                #expect(journal.record.integrity == .validators)
                // The first answer, three for the tag unless a window differs, and the whole file.
                let questions = requests.dropFirst().dropLast()
                #expect(questions.allSatisfy { $0["Range"] != nil && $0["If-Range"] == nil })
                #expect(Set(questions.map(\.connection)).count == questions.count)
                #expect((1...3).contains(questions.count))
                #expect(requests.last?["Range"] == nil)
            }
        }
    }

    @Test func `a host with another tag for each answer goes on where it stood`() async throws {
        let content = TestContent(Self.largeBytes)
        @Sendable func file(_ request: RecordedRequest) -> ServedFile {
            ServedFile(content, entityTag: "\"\(request.number)\"")
        }
        for obeys in [true, false] {
            try await withSite { site in
                let (journal, requests) = try await resume(
                    ServedFile(content, entityTag: "\"1\""),
                    site
                ) { request in
                    obeys
                        ? file(request).answer(to: request)
                        : file(request).withoutConditions(request)
                }
                expectWhole(content, site, journal)
                #expect(journal.record.integrity == .length)
                #expect(requests.last?["Range"] == "bytes=\(Self.large / 2 - 65_536)-")
                #expect(journal.kinds.filter { $0 == .opened }.count == 2)
            }
        }
    }

    @Test func `three edges, each with a tag of its own, are one host with one file`()
        async throws
    {
        let content = TestContent(Self.largeBytes)
        try await withSite { site in
            let (journal, requests) = try await resume(
                ServedFile(content, entityTag: "\"edge 1\""),
                site
            ) { request in
                ServedFile(content, entityTag: "\"edge \(request.connection % 3)\"")
                    .answer(to: request)
            }
            expectWhole(content, site, journal)
            #expect(journal.record.integrity == .length)
            #expect(requests.last?["Range"] == "bytes=\(Self.large / 2 - 65_536)-")
        }
    }

    @Test func `of two edges, the one with the recorded tag brings the rest`() async throws {
        let content = TestContent(Self.largeBytes)
        try await withSite { site in
            let (journal, requests) = try await resume(ServedFile(content), site) { request in
                let tag = request.connection % 2 == 1 ? "\"v1\"" : "\"v2\""
                return ServedFile(content, entityTag: tag).answer(to: request)
            }
            expectWhole(content, site, journal)
            #expect(requests.dropFirst().allSatisfy { $0["Range"] != nil })
            #expect(journal.record.integrity == .validators)
        }
    }

    @Test func `edges do not hide a block that differs in what is compared`() async throws {
        let old = ServedFile(TestContent(Self.largeBytes))
        // The last block before the resume point.
        let content = Self.changing(Self.largeBytes, at: Int(Self.large / 2) - 4096)
        try await withSite { site in
            let (journal, _) = try await resume(old, site) { request in
                ServedFile(content, entityTag: "\"\(request.number)\"").answer(to: request)
            }
            expectWhole(content, site, journal)
        }
    }

    @Test func `what is known of a host spares small files the start`() async throws {
        let (large, small) = (TestContent(Self.largeBytes), TestContent(Self.smallBytes))
        try await withServer({ request in
            let content = request.path == "/small.bin" ? small : large
            let file = ServedFile(content, entityTag: "\"\(request.number)\"")
            return request["Range"] == nil && request.number < 9
                ? file.cutOff(at: content.count / 2) : file.answer(to: request)
        }) { server in
            try await withSite { site in
                let first = try site.task(server.url("/large.bin"))
                try await site.run(first)
                try await site.run(first)
                #expect(first.record.state == .completed)
                #expect(first.record.integrity == .length)

                let next = try site.task(server.url("/small.bin"), id: 2)
                let before = server.requests.count
                try await site.run(next)
                #expect(next.record.segments.prefixLength == Self.small / 2)
                try await site.run(next)
                expectWhole(small, as: "small.bin", site, next)
                let requests = Array(server.requests.dropFirst(before + 1))
                #expect(requests.last?["Range"] == "bytes=\(Self.small / 2 - 65_536)-")
            }
        }
    }

    @Test func `a task gives up no more than 16 MiB before it asks`() async throws {
        let content = TestContent(Self.smallBytes)
        let rounds = 8
        try await withSite { site in
            // Each answer with another tag, and the first ones break off at the middle.
            let (journal, requests) = try await resume(
                ServedFile(content, entityTag: "\"1\""),
                site,
                attempts: rounds
            ) { request in
                let file = ServedFile(content, entityTag: "\"\(request.number)\"")
                let isCut = request["Range"] == nil || request["If-Range"] != nil
                return isCut ? file.cutOff(at: Self.small / 2) : file.answer(to: request)
            }
            expectWhole(content, site, journal)
            // The bytes are given up first, and then another file is recorded.
            let wholes = journal.kinds.split { $0 != .opened }.count
            #expect(wholes <= 6, "\(requests.count)")
        }
    }

    @Test func `a mirror with a tag of its own goes on by proof`() async throws {
        let content = TestContent(Self.smallBytes)
        let other = ServedFile(content, entityTag: "\"mirror\"")
        try await withServer({ other.answer(to: $0) }) { mirror in
            try await withServer({ _ in
                ServedFile(content).cutOff(at: Self.small / 2)
            }) { home in
                try await withSite { site in
                    let journal = try await site.download(home.url("/file.bin")) {
                        $0.mirrors = [mirror.url("/file.bin")]
                    }
                    expectWhole(content, site, journal)
                    #expect(journal.record.integrity == .length)
                    let ranges = mirror.requests.compactMap { $0["Range"] }
                    #expect(ranges.last == "bytes=\(Self.small / 2 - 65_536)-")
                    #expect(ranges.count == mirror.requests.count)
                }
            }
        }
    }

    private static let busy: [Step] = [.head("503 Busy", [("Content-Length", "0")])]

    /// Runs a task's first attempt, and another one after a restart of the service.
    ///
    /// - Parameters:
    ///   - home: what the host of the task's URL answers.
    ///   - mirror: what its mirror answers; nil for a task without one.
    ///   - content: what the file has to be in the end.
    /// - Returns: the task, and the requests to the host of its URL.
    /// - Throws: what keeps the servers or the site from working.
    private func restart(
        home: @escaping @Sendable (RecordedRequest) -> [Step],
        mirror: [Step]? = nil,
        expecting content: TestContent
    ) async throws -> (RecordingJournal, [RecordedRequest]) {
        try await withServer({ _ in mirror ?? Self.busy }) { other in
            try await withServer(home) { server in
                try await withSite { first in
                    let journal = try first.task(server.url("/file.bin")) {
                        if mirror != nil { $0.mirrors = [other.url("/file.bin")] }
                    }
                    try await first.run(journal)
                    try await withSite(in: first.folder) { site in
                        try await site.run(journal)
                        expectComplete(content, site, journal)
                    }
                    return (journal, server.requests)
                }
            }
        }
    }

    @Test func `after a restart, too, another tag of a task with a mirror is another file`()
        async throws
    {
        let new = ServedFile(Sample.replaced, entityTag: "\"v2\"")
        let (journal, requests) = try await restart(
            home: { $0.number == 1 ? Sample.file.cutOff() : new.answer(to: $0) },
            mirror: Self.busy,
            expecting: Sample.replaced
        )
        // The first answer is known to be another file: nothing is compared.
        #expect(requests.count == 2)
        #expect(journal.record.integrity == .validators)
    }

    @Test func `after a restart, another tag behind a redirect of the home is another file`()
        async throws
    {
        let new = ServedFile(Sample.replaced, entityTag: "\"v2\"")
        let (_, requests) = try await restart(
            home: { request in
                switch (request.number, request.path) {
                case (1, _): Sample.file.cutOff()
                case (_, "/v2.bin"): new.answer(to: request)
                default: [.head("302 Found", [("Location", "/v2.bin"), ("Content-Length", "0")])]
                }
            },
            expecting: Sample.replaced
        )
        #expect(requests.count == 3)
    }

    @Test func `after a restart, a mirror's bytes go on by proof at the home`() async throws {
        let mirrored = Sample.file.with { $0.entityTag = "\"mirror\"" }
        let (_, requests) = try await restart(
            home: { $0.number == 1 ? Self.busy : Sample.file.answer(to: $0) },
            mirror: mirrored.cutOff(),
            expecting: Sample.content
        )
        #expect(requests.dropFirst().allSatisfy { $0["Range"] != nil })
    }

    @Test func `after a fresh link another tag goes on by proof`() async throws {
        let content = TestContent(Self.smallBytes)
        try await withServer({ request in
            request.path == "/old.bin"
                ? ServedFile(content).cutOff(at: Self.small / 2)
                : ServedFile(content, entityTag: "\"v2\"").answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/old.bin"))
                try await site.run(journal)
                try journal.setURL(server.url("/new.bin"))
                try await site.run(journal)
                expectWhole(content, as: "old.bin", site, journal)
                #expect(journal.record.integrity == .length)
                #expect(server.requests.last?["Range"] == "bytes=\(Self.small / 2 - 65_536)-")
            }
        }
    }

    @Test func `a redirect to another host with a tag of its own goes on by proof`() async throws {
        let content = TestContent(Self.smallBytes)
        try await withServer({ ServedFile(content, entityTag: "\"b\"").answer(to: $0) }) { second in
            try await withServer({ _ in
                ServedFile(content, entityTag: "\"a\"").cutOff(at: Self.small / 2)
            }) { first in
                try await withServer({ request in
                    let host = request.number == 1 ? first : second
                    let fields = [("Location", host.url("/there")), ("Content-Length", "0")]
                    return [.head("302 Found", fields)]
                }) { home in
                    try await withSite { site in
                        let journal = try site.task(home.url("/file.bin"))
                        try await site.run(journal)
                        try await site.run(journal)
                        expectWhole(content, as: "there", site, journal)
                        #expect(journal.record.integrity == .length)
                        #expect(second.requests.last?["Range"] == "bytes=4128768-")
                    }
                }
            }
        }
    }
}
