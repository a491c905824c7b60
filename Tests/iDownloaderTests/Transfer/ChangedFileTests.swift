// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting
import iDownloader

/// The file at the other end was replaced while the download was interrupted: the oldest
/// corruption of this field is a file mixed from both.
@Suite(.timeLimit(.minutes(5))) struct ChangedFileTests {
    /// Another version: one block of 4 KiB before the cut and one behind it have changed, so that the
    /// validators tell and hardly any sample of the bytes does.
    private static let replaced = patched(at: [100_000, 600_000])
    /// A version of which one changed block ends at the cut, where every proof looks.
    private static let replacedAtCut = patched(at: [Sample.cut - 4096, 600_000])

    private static func patched(at offsets: [Int64]) -> ServedFile {
        var bytes = Sample.content.bytes
        for offset in offsets {
            for index in Int(offset)..<Int(offset) + 4096 { bytes[index] ^= 0xFF }
        }
        return ServedFile(TestContent(bytes), entityTag: "\"v2\"")
    }

    @Test func `a replaced file of the same size is never mixed`() async throws {
        try await resuming(then: { Self.replaced.answer(to: $0) }) { event, journal in
            if case .opened(_, _, let kept) = event { #expect(kept.isEmpty) }
            return true
        } check: { site, journal, requests in
            expectComplete(Self.replaced.content, site, journal)
            // Another strong tag is another file: the answer to If-Range brings it.
            #expect(requests.map { $0["If-Range"] } == ["\"v1\""])
            #expect(journal.record.integrity == .validators)
            #expect(journal.record.remote.entityTag?.opaque == "\"v2\"")
        }
    }

    @Test func `a host that ignores If-Range never causes a mixed file`() async throws {
        try await resuming(then: { request in
            Self.replaced.withoutConditions(request)
        }) { site, journal, requests in
            expectComplete(Self.replaced.content, site, journal)
            #expect(requests.count == 2)
            #expect(requests.last?["Range"] == nil)
        }
    }

    @Test func `a part without any validator never causes a mixed file`() async throws {
        let bare = Self.replacedAtCut.with { $0.entityTag = nil }
        try await resuming(then: { bare.withoutConditions($0) }) { site, journal, _ in
            expectComplete(bare.content, site, journal)
        }
    }

    @Test func `a strong tag that became weak never causes a mixed file`() async throws {
        let weak = Self.replacedAtCut.with { $0.entityTag = "W/\"v1\"" }
        try await resuming(then: { weak.withoutConditions($0) }) { site, journal, _ in
            expectComplete(weak.content, site, journal)
        }
    }

    @Test func `another Last-Modified never causes a mixed file`() async throws {
        let old = Sample.file.with {
            $0.entityTag = nil
            $0.lastModified = Sample.lastModified
            $0.fields = [Sample.date]
        }
        let new = ServedFile(
            Self.replaced.content,
            entityTag: nil,
            lastModified: "Sat, 21 Nov 2026 08:30:00 GMT"
        ).with { $0.fields = [Sample.date] }
        for pays in [true, false] {
            try await resuming(
                old,
                then: { request in
                    pays ? new.answer(to: request) : new.withoutConditions(request)
                }
            ) { site, journal, _ in
                expectComplete(Self.replaced.content, site, journal)
            }
        }
    }

    @Test(arguments: [1, 400_003, 700_000, 700_002, 2_000_000])
    func `a replaced file of another size is fetched anew`(count: Int64) async throws {
        let other = ServedFile(TestContent(seed: 12, count: count), entityTag: "\"v2\"")
        for pays in [true, false] {
            try await resuming(then: { request in
                pays ? other.answer(to: request) : other.withoutConditions(request)
            }) { site, journal, _ in
                expectComplete(other.content, site, journal)
            }
        }
    }

    @Test func `another size under the same tag is another file`() async throws {
        let other = ServedFile(TestContent(seed: 12, count: 600_000))
        try await resuming(then: { other.answer(to: $0) }) { site, journal, _ in
            expectComplete(other.content, site, journal)
        }
    }

    @Test func `a file that changes between two parts is fetched anew`() async throws {
        try await resuming(then: { request in
            request.number == 2
                ? partial(Sample.cut..<500_000) : Self.replaced.answer(to: request)
        }) { site, journal, requests in
            expectComplete(Self.replaced.content, site, journal)
            let ranges = requests.map { $0["Range"] }
            #expect(ranges == ["bytes=400003-", "bytes=500000-"])
            #expect(requests.last?.bodyBytesSent == Self.replaced.content.count)
        }
    }

    @Test func `while all is fetched anew, a cut keeps the new bytes alone`() async throws {
        let old = Sample.file.with { $0.lastModified = Sample.lastModified }
        let new = Self.replaced.with { $0.lastModified = "Sat, 21 Nov 2026 08:30:00 GMT" }
        try await withServer({ request in
            switch request.number {
            case 1: old.cutOff()
            case 2: new.cutOff(at: 100_000)
            default: new.answer(to: request)
            }
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                try await site.run(journal)
                try await site.run(journal)
                #expect(journal.record.segments.prefixLength == 100_000)
                expectTrueClaims(Self.replaced.content, site, journal)
                try await site.run(journal)
                expectComplete(Self.replaced.content, site, journal)
                #expect(server.requests.last?["Range"] == "bytes=100000-")
            }
        }
    }
}
