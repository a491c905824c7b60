// SPDX-License-Identifier: Apache-2.0

import Dispatch
import FoundationEssentials
import Testing
import iDownState
import iDownTesting

@testable import iDownloader

/// A file that its server gives digests of.
@Suite(.timeLimit(.minutes(2))) struct VerificationTests {
    /// One way to give a digest in a head.
    struct Giving: Sendable, CustomTestStringConvertible {
        let name: String
        let algorithm: Checksum.Algorithm
        let prefix: String
        var suffix = ""

        func field(of content: TestContent) -> (String, String) {
            let digest = Data(algorithm.digest(of: content.bytes)).base64EncodedString()
            return (name, prefix + digest + suffix)
        }

        var testDescription: String { "\(name): \(prefix)…" }
    }

    private static let givings = [
        Giving(name: "Repr-Digest", algorithm: .sha256, prefix: "sha-256=:", suffix: ":"),
        Giving(name: "Repr-Digest", algorithm: .sha512, prefix: "x=1, sha-512=:", suffix: ":"),
        Giving(name: "Content-Digest", algorithm: .sha256, prefix: "sha-256=:", suffix: ":"),
        Giving(name: "Digest", algorithm: .sha256, prefix: "SHA-256="),
        Giving(name: "Digest", algorithm: .sha1, prefix: "crc32c=AAAAAA==,sha="),
        Giving(name: "Digest", algorithm: .md5, prefix: "md5="),
        Giving(name: "Content-MD5", algorithm: .md5, prefix: ""),
    ]

    @Test(arguments: givings)
    func `a right digest is what a file can rely on`(giving: Giving) async throws {
        let fields = [giving.field(of: Sample.content), ("ETag", "\"v1\"")]
        try await withServer({ _ in whole(Sample.content, fields) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(Sample.content, site, journal)
                #expect(journal.record.integrity == .checksum)
            }
        }
    }

    @Test func `a wrong digest of several answers has one answer bring the file`() async throws {
        // Too little for the samples to find it, in nearly all runs.
        var bytes = Sample.content.bytes
        for index in 300_000..<300_100 { bytes[index] ^= 1 }
        let new = ServedFile(TestContent(bytes)).with { $0.entityTag = nil }
        let old = Sample.file.with { $0.entityTag = nil }
        try await withServer({ request in
            request.number == 1 ? old.cutOff() : new.answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin")) {
                    $0.checksum = Checksum.Algorithm.sha256.checksum(of: new.content)
                }
                for _ in 0..<2 { try await site.run(journal) }
                expectComplete(new.content, site, journal)
                #expect(server.requests.last?["Range"] == nil)
            }
        }
    }

    @Test(arguments: [true, false])
    func `a wrong digest counts although the one answer does not come, or breaks off`(
        isGone: Bool
    ) async throws {
        let file = Sample.file.with { $0.entityTag = nil }
        try await withServer({ request in
            if request.number == 1 { return file.cutOff() }
            guard request["Range"] == nil else { return file.answer(to: request) }
            return isGone ? [.head("404 Gone", [("Content-Length", "0")])] : file.cutOff()
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin")) {
                    $0.checksum = Checksum.Algorithm.sha256.checksum(of: Sample.replaced)
                }
                for _ in 0..<4 where journal.record.state.kind != .failed {
                    try await site.run(journal)
                }
                expectFailure(.checksumMismatch, isTransient: false, site, journal)
                #expect(journal.record.segments.covers(Sample.content.count))
            }
        }
    }

    @Test(arguments: givings)
    func `with a wrong digest no file is complete`(giving: Giving) async throws {
        let fields = [giving.field(of: Sample.replaced), ("ETag", "\"v1\"")]
        try await withServer({ _ in whole(Sample.content, fields) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                try await site.run(journal)
                expectFailure(.checksumMismatch, isTransient: false, site, journal)
                #expect(journal.record.integrity == nil)
                // What was wrong once is not kept: the next try asks for everything.
                try await site.run(journal)
                expectFailure(.checksumMismatch, isTransient: false, site, journal)
                #expect(server.requests.map { $0["Range"] } == [nil, nil])
            }
        }
    }

    @Test(arguments: [
        ("Repr-Digest", "sha-999=:AAAA:"), ("Repr-Digest", "sha-256=AAAA"),
        ("Digest", "SHA-256=AAAA"), ("Content-MD5", "none"), ("Want-Digest", "SHA-256"),
    ])
    func `a digest that cannot be understood says nothing`(name: String, value: String)
        async throws
    {
        let fields = [(name, value), ("ETag", "\"v1\"")]
        try await withServer({ _ in whole(Sample.content, fields) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectComplete(Sample.content, site, journal)
                #expect(journal.record.integrity == .validators)
            }
        }
    }

    @Test func `an empty file has a digest too`() async throws {
        let empty = TestContent([])
        for (digested, state) in [(empty, TaskState.completed), (Sample.content, .failed)] {
            let field = Self.givings[0].field(of: digested)
            try await withServer({ _ in whole(empty, [field]) }) { server in
                try await withSite { site in
                    let journal = try await site.download(server.url("/file.bin"))
                    #expect(journal.record.state == state)
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func `a resumed file is held against its digest from its first byte on`(isRight: Bool)
        async throws
    {
        let content = isRight ? Sample.content : Sample.replaced
        let file = Sample.file.with { $0.fields = [Self.givings[0].field(of: content)] }
        try await resuming(file, then: { file.answer(to: $0) }) { site, journal, requests in
            #expect(requests.map { $0["Range"] } == ["bytes=\(Sample.cut)-"])
            if isRight {
                expectComplete(Sample.content, site, journal)
                #expect(journal.record.integrity == .checksum)
            } else {
                expectFailure(.checksumMismatch, isTransient: false, site, journal)
            }
        }
    }

    @Test func `a digest that only the second answer gives counts`() async throws {
        let field = Self.givings[0].field(of: Sample.replaced)
        try await resuming(then: { request in
            Sample.file.with { $0.fields = [field] }.answer(to: request)
        }) { site, journal, _ in
            expectFailure(.checksumMismatch, isTransient: false, site, journal)
        }
    }

    @Test func `another digest under the same tag is another file`() async throws {
        let (first, second) = (Self.givings[0].field(of: Sample.content), Self.givings[0])
        let file = Sample.file.with { $0.fields = [first] }
        let replaced = ServedFile(Sample.replaced).with {
            $0.fields = [second.field(of: Sample.replaced)]
        }
        try await resuming(file, then: { replaced.answer(to: $0) }) { site, journal, _ in
            expectComplete(Sample.replaced, site, journal)
            #expect(journal.record.integrity == .checksum)
        }
    }

    @Test func `what is decoded on the way is another file than the digest's`() async throws {
        let text = TestContent(Array("some text ".utf8))
        let packed = TestContent(gzip(text.bytes))
        for giving in Self.givings {
            let fields = [("Content-Encoding", "gzip"), giving.field(of: packed)]
            try await withServer({ _ in whole(packed, fields) }) { server in
                try await withSite { site in
                    let journal = try await site.download(server.url("/file.txt"))
                    expectComplete(text, as: "file.txt", site, journal)
                    #expect(journal.record.integrity == Integrity.none)
                }
            }
        }
    }

    @Test func `a file that keeps its encoding has the digest of what was sent`() async throws {
        let packed = TestContent(gzip(Sample.content.bytes))
        let fields = [("Content-Encoding", "gzip"), Self.givings[0].field(of: packed)]
        try await withServer({ _ in whole(packed, fields) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.gz"))
                expectComplete(packed, as: "file.gz", site, journal)
                #expect(journal.record.integrity == .checksum)
            }
        }
    }

    @Test func `a pause while the file is verified keeps its bytes`() async throws {
        let file = Sample.file.with { $0.fields = [Self.givings[0].field(of: Sample.content)] }
        try await withServer({ file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                try await site.pauseWhileVerifying(journal)
                #expect(journal.record.segments.byteCount == Sample.content.count)
                #expect(site.files == ["file.bin.part"])

                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
                #expect(journal.record.integrity == .checksum)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func `a body without a length is not fetched again after a pause while it is verified`()
        async throws
    {
        let fields = [("Transfer-Encoding", "chunked"), ("ETag", "\"v1\"")]
        try await withServer({ _ in
            [.head("200 OK", fields), .chunk(Sample.content.bytes), .lastChunk()]
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin")) {
                    $0.checksum = Checksum.Algorithm.sha256.checksum(of: Sample.content)
                }
                try await site.pauseWhileVerifying(journal)
                #expect(journal.record.segments.byteCount == Sample.content.count)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
                #expect(journal.record.integrity == .checksum)
                #expect(server.requests.count == 1)
            }
        }
    }

    // MARK: What the client expects

    @Test(arguments: Checksum.Algorithm.allCases)
    func `the client's own digest counts`(algorithm: Checksum.Algorithm) async throws {
        for (content, isRight) in [(Sample.content, true), (Sample.replaced, false)] {
            try await withServer({ Sample.file.answer(to: $0) }) { server in
                try await withSite { site in
                    let journal = try await site.download(server.url("/file.bin")) {
                        $0.checksum = algorithm.checksum(of: content)
                    }
                    if isRight {
                        expectComplete(Sample.content, site, journal)
                        #expect(journal.record.integrity == .checksum)
                    } else {
                        expectFailure(.checksumMismatch, isTransient: false, site, journal)
                    }
                }
            }
        }
    }

    @Test func `the client's digest comes before the server's`() async throws {
        let algorithms: [Checksum.Algorithm] = [.md5, .sha256]
        for (client, server) in [
            (Sample.content, Sample.replaced), (Sample.replaced, Sample.content),
        ] {
            for algorithm in algorithms {
                let file = Sample.file.with { $0.fields = [Self.givings[0].field(of: server)] }
                try await withServer({ file.answer(to: $0) }) { server in
                    try await withSite { site in
                        let journal = try await site.download(server.url("/file.bin")) {
                            $0.checksum = algorithm.checksum(of: client)
                        }
                        guard client == Sample.content else {
                            expectFailure(.checksumMismatch, isTransient: false, site, journal)
                            return
                        }
                        expectComplete(Sample.content, site, journal)
                        #expect(journal.record.integrity == .checksum)
                    }
                }
            }
        }
    }

    @Test(arguments: [-1, 1] as [Int64])
    func `a length that is not the expected one is refused before a byte is stored`(
        difference: Int64
    ) async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin")) {
                    $0.expectedSize = Sample.content.count + difference
                }
                expectFailure(.sizeMismatch, isTransient: false, site, journal)
                #expect(journal.kinds == [.failed])
                #expect(site.files.isEmpty)
            }
        }
    }

    @Test(arguments: [-1, 0, 1] as [Int64])
    func `without a length the file's own size counts`(difference: Int64) async throws {
        try await withServer({ _ in
            [.head("200 OK"), .sendPattern(Sample.content, 0..<Sample.content.count), .close]
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin")) {
                    $0.expectedSize = Sample.content.count + difference
                }
                if difference == 0 {
                    expectComplete(Sample.content, site, journal)
                } else if difference > 0 {
                    // The body may have been cut.
                    expectFailure(.serverTruncated, isTransient: true, site, journal)
                } else {
                    expectFailure(.sizeMismatch, isTransient: false, site, journal)
                }
            }
        }
    }

    @Test func `a body without end is cut behind the expected size`() async throws {
        try await withServer({ _ in
            [.head("200 OK"), .sendForever([UInt8](repeating: 1, count: 4096))]
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin")) {
                    $0.expectedSize = 300_000
                }
                expectFailure(.sizeMismatch, isTransient: false, site, journal)
                #expect(site.bytes(of: "file.bin.part").count == 300_001)
            }
        }
    }
}

extension Site {
    /// Runs the task's next attempt until its file is held against a digest, and pauses it there.
    fileprivate func pauseWhileVerifying(_ journal: RecordingJournal) async throws {
        let queue = engine.disk.digestThread(for: folder).queue
        queue.suspend()
        let transfer = try start(journal)
        while transfer.live.activity != .verifying { await Task.yield() }
        try journal.apply(.pause)
        transfer.stop()
        queue.resume()
        await transfer.ended()
        #expect(journal.record.state == .paused)
    }
}
