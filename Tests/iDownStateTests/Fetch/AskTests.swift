// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

@Suite struct AskTests {
    private static let strong = EntityTag(opaque: "\"a\"", isWeak: false)
    private static let weak = EntityTag(opaque: "\"a\"", isWeak: true)
    private static let date = LastModified(field: "Sat, 01 Aug 2026 10:00:00 GMT", isStrong: true)
    private static let fresh = LastModified(field: "Sat, 01 Aug 2026 10:00:00 GMT", isStrong: false)

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let held: Int64
        let known: RemoteVersion
        let ask: Ask

        init(_ description: String, held: Int64 = 3, _ known: RemoteVersion, _ ask: Ask) {
            testDescription = description
            self.held = held
            self.known = known
            self.ask = ask
        }
    }

    @Test(arguments: [
        Row("nothing is known", held: 0, RemoteVersion(), .whole),
        Row("nothing is on disk", held: 0, RemoteVersion(total: 8, entityTag: strong), .whole),
        Row(
            "a strong tag",
            RemoteVersion(total: 8, entityTag: strong),
            .rest(from: 3, ifRange: "\"a\"")
        ),
        Row(
            "a strong tag before a date",
            RemoteVersion(total: 8, entityTag: strong, lastModified: date),
            .rest(from: 3, ifRange: "\"a\"")
        ),
        Row(
            "a strong date",
            RemoteVersion(total: 8, lastModified: date),
            .rest(from: 3, ifRange: "Sat, 01 Aug 2026 10:00:00 GMT")
        ),
        Row("a weak tag is never sent", RemoteVersion(total: 8, entityTag: weak), .whole),
        Row("a date too fresh to be sent", RemoteVersion(total: 8, lastModified: fresh), .whole),
        Row("no validator", RemoteVersion(total: 8, servesRanges: true), .whole),
        Row("no length", RemoteVersion(entityTag: strong, servesRanges: true), .whole),
        Row(
            "a server that refuses ranges",
            RemoteVersion(total: 8, entityTag: strong, refusesRanges: true),
            .whole
        ),
        Row(
            "a host that dislikes If-Range",
            RemoteVersion(total: 8, entityTag: strong, dislikesIfRange: true),
            .rest(from: 3, ifRange: nil)
        ),
    ])
    func `the first request asks for what is missing where that is safe`(row: Row) {
        #expect(Ask.first(for: Sample.first(row.held), of: row.known) == row.ask)
    }

    private static let proofRows: [(Int64, RemoteVersion, Ask)] = {
        let none = RemoteVersion(total: large)
        let foreign = RemoteVersion(total: large, entityTag: strong, needsProof: true)
        // As FTP and SFTP have it.
        let timed = RemoteVersion(total: large, lastModified: date, restsOnProof: true)
        return [
            (half, RemoteVersion(total: large, entityTag: weak), overlap(half)),
            (half, RemoteVersion(total: large, lastModified: fresh), overlap(half)),
            (half, none, overlap(half)),
            (half, foreign, overlap(half)),
            (half, timed, overlap(half)),
            (OverlapProof.overlap, timed, .whole),
            (half, RemoteVersion(total: large, refusesRanges: true), .whole),
            (half, RemoteVersion(), .whole),
            (OverlapProof.overlap, none, .whole),
            (OverlapProof.overlap + 1, none, overlap(OverlapProof.overlap + 1)),
        ]
    }()
    private static func overlap(_ resumePoint: Int64) -> Ask {
        .overlap(from: resumePoint - OverlapProof.overlap, resumingAt: resumePoint, to: nil)
    }

    private static let (large, half): (Int64, Int64) = (1 << 20, 1 << 19)

    @Test(arguments: proofRows)
    func `without a validator that counts, the rest is asked for with what lies before it`(
        held: Int64,
        known: RemoteVersion,
        ask: Ask
    ) {
        #expect(Ask.first(for: Sample.first(held), of: known) == ask)
    }

    @Test func `a proof begins at the first gap that has enough before it, and ends with it`()
        throws
    {
        let segments = SegmentMap([
            try #require(ByteRange(from: 10, to: 20)),
            try #require(ByteRange(from: 30, to: 30 + OverlapProof.overlap)),
            try #require(ByteRange(from: 300_000, to: 500_000)),
        ])
        let ask = Ask.first(for: segments, of: RemoteVersion(total: 500_000))
        let resumePoint = 30 + OverlapProof.overlap
        #expect(ask == .whole)
        var longer = segments
        longer.insert(try #require(ByteRange(first: resumePoint, length: 1)))
        #expect(
            Ask.first(for: longer, of: RemoteVersion(total: 500_000))
                == .overlap(from: 31, resumingAt: resumePoint + 1, to: 300_000)
        )
    }

    @Test func `a gap that ends before the file is asked for alone`() throws {
        let segments = SegmentMap([
            try #require(ByteRange(first: 0, length: 2)),
            try #require(ByteRange(first: 5, length: 2)),
        ])
        let known = RemoteVersion(total: 8, entityTag: Self.strong)
        let gap = try #require(ByteRange(first: 2, length: 3))
        #expect(Ask.first(for: segments, of: known) == .part(gap, ifRange: "\"a\""))
    }

    @Test func `a gap at the file's start is asked for alone`() throws {
        let segments = SegmentMap([try #require(ByteRange(first: 5, length: 2))])
        let known = RemoteVersion(total: 8, entityTag: Self.strong)
        let gap = try #require(ByteRange(first: 0, length: 5))
        #expect(Ask.first(for: segments, of: known) == .part(gap, ifRange: "\"a\""))
    }

    @Test func `a whole file begins at 0, a rest at its offset, a part at its own`() throws {
        let range = try #require(ByteRange(first: 3, length: 2))
        #expect(Ask.whole.offset == 0)
        #expect(Ask.rest(from: 3, ifRange: nil).offset == 3)
        #expect(Ask.part(range, ifRange: nil).offset == 3)
        #expect(Ask.part(range, ifRange: nil).end == 5)
        #expect(Ask.rest(from: 3, ifRange: nil).end == nil)
        #expect(Ask.overlap(from: 3, resumingAt: 5, to: 7).offset == 3)
        #expect(Ask.overlap(from: 3, resumingAt: 5, to: 7).end == 7)
        #expect(Ask.sample(range).offset == 3)
        #expect(Ask.sample(range).end == 5)
        #expect(Ask.ending(range).offset == 3)
        #expect(Ask.ending(range).end == nil)
    }

    @Test func `the condition can be taken off`() throws {
        let range = try #require(ByteRange(first: 3, length: 2))
        #expect(Ask.part(range, ifRange: "a").unconditional == .part(range, ifRange: nil))
        #expect(Ask.rest(from: 3, ifRange: "a").unconditional == .rest(from: 3, ifRange: nil))
        #expect(Ask.whole.unconditional == .whole)
    }
}
