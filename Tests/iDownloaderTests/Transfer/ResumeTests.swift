// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import iDownState
import iDownTesting
import iDownloader

/// The second attempt of an interrupted download, at hosts that do what the standard says.
@Suite(.timeLimit(.minutes(5))) struct ResumeTests {
    private static let rest = Sample.content.count - Sample.cut

    @Test func `only the missing bytes are asked for, if the strong tag still holds`()
        async throws
    {
        try await resuming(then: { Sample.file.answer(to: $0) }) { site, journal, requests in
            expectComplete(Sample.content, site, journal)
            #expect(requests.count == 1)
            #expect(requests[0]["Range"] == "bytes=\(Sample.cut)-")
            #expect(requests[0]["If-Range"] == "\"v1\"")
            #expect(requests[0].bodyBytesSent == Self.rest)
            #expect(journal.record.integrity == .validators)
        }
    }

    @Test func `a strong Last-Modified serves where there is no tag`() async throws {
        let file = Sample.file.with {
            $0.entityTag = nil
            $0.lastModified = Sample.lastModified
            $0.fields = [Sample.date]
        }
        try await resuming(file, then: { file.answer(to: $0) }) { site, journal, requests in
            expectComplete(Sample.content, site, journal)
            #expect(requests.map { $0["Range"] } == ["bytes=\(Sample.cut)-"])
            #expect(requests.map { $0["If-Range"] } == [Sample.lastModified])
            #expect(journal.record.integrity == .validators)
        }
    }

    @Test(arguments: [nil, ("Date", Sample.lastModified)])
    func `a Last-Modified that may be changed within its second proves nothing, the bytes do`(
        date: (String, String)?
    ) async throws {
        let file = Sample.file.with {
            $0.entityTag = nil
            $0.lastModified = Sample.lastModified
            $0.fields = [date].compactMap(\.self)
        }
        try await resuming(file, then: { file.answer(to: $0) }) { site, journal, requests in
            expectComplete(Sample.content, site, journal)
            expectProof(in: requests)
            #expect(journal.record.integrity == .length)
        }
    }

    @Test(arguments: ["W/\"v1\"", nil])
    func `without a strong validator the bytes prove`(tag: String?) async throws {
        let file = Sample.file.with { $0.entityTag = tag }
        try await resuming(file, then: { file.answer(to: $0) }) { site, journal, requests in
            expectComplete(Sample.content, site, journal)
            expectProof(in: requests)
            #expect(journal.record.integrity == .length)
        }
    }

    @Test func `the bytes of an unprovable version are given up before they are overwritten`()
        async throws
    {
        let old = Sample.file.with { $0.entityTag = nil }
        let new = ServedFile(Sample.replaced, entityTag: nil)
        let claimed = Mutex<[Int64]>([])
        try await resuming(old, then: { new.answer(to: $0) }) { event, journal in
            if case .opened(_, _, let kept) = event {
                #expect(kept.isEmpty)
                claimed.withLock { $0.append(journal.record.segments.byteCount) }
            }
            return true
        } check: { site, journal, _ in
            expectComplete(Sample.replaced, site, journal)
            // Then the new file is recorded.
            #expect(claimed.withLock(\.self) == [Sample.cut, 0])
        }
    }

    @Test func `a host without ranges is asked for all, and all is compared`() async throws {
        let file = Sample.file.with {
            $0.acceptsRanges = false
            $0.fields = [("Accept-Ranges", "none")]
        }
        try await resuming(file, then: { file.answer(to: $0) }) { site, journal, requests in
            expectComplete(Sample.content, site, journal)
            #expect(requests.map { $0["Range"] } == [nil])
        }
    }

    @Test func `a shorter partial answer is asked for the rest`() async throws {
        try await resuming(then: { request in
            guard let range = request.range(of: Sample.content.count) else { return [] }
            let end = min(range.lowerBound + 100_000, range.upperBound)
            return partial(range.lowerBound..<end)
        }) { site, journal, requests in
            expectComplete(Sample.content, site, journal)
            let ranges = ["bytes=400003-", "bytes=500003-", "bytes=600003-"]
            #expect(requests.compactMap { $0["Range"] } == ranges)
        }
    }

    @Test func `a partial answer of unknown total is as good`() async throws {
        try await resuming(then: { _ in
            partial(Sample.cut..<Sample.content.count, total: "*")
        }) { site, journal, requests in
            expectComplete(Sample.content, site, journal)
            #expect(requests.count == 1)
        }
    }

    @Test func `a partial answer may come in chunks`() async throws {
        try await resuming(then: { _ in
            let range = "bytes \(Sample.cut)-\(Sample.content.count - 1)/\(Sample.content.count)"
            return [
                .head(
                    "206 Partial Content",
                    [
                        ("Transfer-Encoding", "chunked"), ("Content-Range", range),
                        ("ETag", "\"v1\""),
                    ]
                ),
                .chunk(Sample.content.bytes(in: Sample.cut..<Sample.content.count)),
                .lastChunk(),
            ]
        }) { site, journal, _ in
            expectComplete(Sample.content, site, journal)
        }
    }

    @Test func `chunks without the last one are not a file`() async throws {
        try await withServer({ request in
            let head = Step.head("200 OK", [("Transfer-Encoding", "chunked"), ("ETag", "\"v1\"")])
            let all = [head, Step.chunk(Sample.content.bytes)]
            return all + (request.number == 1 ? [.close] : [.lastChunk()])
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"))
                expectFailure(.serverTruncated, isTransient: true, site, journal)
                expectTrueClaims(Sample.content, site, journal)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test(arguments: [0, 200_000, 600_000] as [Int64])
    func `an answer that tells nothing of the file is compared, and its end is not the file's`(
        end: Int64
    ) async throws {
        let isWell = Gate()
        try await interrupting(then: { request in
            guard !isWell.isOpen else { return Sample.file.answer(to: request) }
            let head = Step.head("200 OK", [("Content-Type", "application/octet-stream")])
            return [head, .sendPattern(Sample.content, 0..<end), .close]
        }) { site, journal, _ in
            try await site.run(journal)
            expectFailure(.serverTruncated, isTransient: true, site, journal)
            #expect(journal.record.segments.prefixLength >= Sample.cut)
            isWell.open()
            try await site.run(journal)
            expectComplete(Sample.content, site, journal)
        }
    }

    @Test(arguments: [600_000, 700_001, 900_000] as [Int64])
    func `another file without a length comes whole, whatever its length`(
        count: Int64
    ) async throws {
        let other = TestContent(seed: 9, count: count)
        try await interrupting(then: { _ in
            let head = Step.head("200 OK", [("Content-Type", "application/octet-stream")])
            return [head, .sendPattern(other, 0..<count), .close]
        }) { site, journal, _ in
            try await site.run(journal)
            expectComplete(other, site, journal)
        }
    }

    @Test func `nothing under the tag of the file is no empty file`() async throws {
        try await interrupting(then: { request in
            guard request.number == 2 else { return Sample.file.answer(to: request) }
            return [.head("200 OK", [("Content-Length", "0"), ("ETag", "\"v1\"")])]
        }) { site, journal, _ in
            try await site.run(journal)
            expectFailure(.serverTruncated, isTransient: true, site, journal)
            try await site.run(journal)
            expectComplete(Sample.content, site, journal)
        }
    }

    @Test func `a partial file that has gone is begun anew`() async throws {
        try await resumingAfter { site in
            #expect(remove(site.path("file.bin.part")) == 0)
        } check: { site, journal in
            expectComplete(Sample.content, site, journal)
        }
    }

    @Test func `a partial file that was replaced is left to whoever did it`() async throws {
        try await resumingAfter { site in
            // Made beside the other: a file system may give the inode of one that is gone again.
            putFile(site.path("other"))
            #expect(rename(site.path("other"), site.path("file.bin.part")) == 0)
        } check: { site, journal in
            #expect(journal.record.path == site.path("file (1).bin"))
            #expect(site.holds(Sample.content, as: "file (1).bin"))
            #expect(contents(of: site.path("file.bin.part")) == "somebody else's")
            #expect(site.files.count == 2)
        }
    }

    @Test func `a partial file that a crash cut short goes on from its end`() async throws {
        try await resumingAfter { site in
            #expect(truncate(site.path("file.bin.part"), 1000) == 0)
        } check: { site, journal in
            expectComplete(Sample.content, site, journal)
        }
    }

    @Test func `bytes behind those that the record claims are fetched again`() async throws {
        try await resumingAfter { site in
            let bytes = Sample.replaced.bytes
            let file = open(site.path("file.bin.part"), O_WRONLY)
            #expect(pwrite(file, bytes, bytes.count, off_t(Sample.cut)) == bytes.count)
            close(file)
        } check: { site, journal in
            expectComplete(Sample.content, site, journal)
        }
    }

    /// Interrupts a download, lets a test change the folder, and goes on.
    private func resumingAfter(
        _ change: (Site) -> Void,
        check: (Site, RecordingJournal) -> Void
    ) async throws {
        try await interrupting { site, journal, _ in
            change(site)
            try await site.run(journal)
            check(site, journal)
        }
    }
}

/// A correct 206 of the sample.
func partial(_ range: Range<Int64>, total: String = "\(Sample.content.count)") -> [Step] {
    [
        .head(
            "206 Partial Content",
            [
                ("Content-Length", "\(range.count)"),
                ("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"),
                ("ETag", "\"v1\""),
            ]
        ),
        .sendPattern(Sample.content, range),
    ]
}

/// Two samples of what is on disk, then the rest with the overlap before it, and no condition.
func expectProof(
    in requests: [RecordedRequest],
    resumingAt resumePoint: Int64 = Sample.cut,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let start = resumePoint - OverlapProof.overlap
    #expect(requests.count == 3, sourceLocation: sourceLocation)
    #expect(requests.last?["Range"] == "bytes=\(start)-", sourceLocation: sourceLocation)
    #expect(requests.allSatisfy { $0["If-Range"] == nil }, sourceLocation: sourceLocation)
    for request in requests.dropLast() {
        let sample = request.range(of: Sample.content.count) ?? 0..<0
        #expect(sample.count == OverlapProof.sample, sourceLocation: sourceLocation)
        #expect(sample.upperBound <= start, sourceLocation: sourceLocation)
    }
}
