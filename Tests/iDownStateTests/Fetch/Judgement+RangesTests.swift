// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

/// The ladder's rules 5 and 6: ranges gone wrong.
@Suite struct JudgementRangesTests {
    typealias Row = JudgementRow

    // MARK: Rule 5: ranges gone wrong

    @Test(arguments: [
        Row("from 0", Heads.rest, Heads.part(Heads.range(0, 8, of: 8)), .askWhole),
        Row("too early", Heads.rest, Heads.part(Heads.range(2, 8, of: 8)), .askWhole),
        Row("too late", Heads.rest, Heads.part(Heads.range(4, 8, of: 8)), .askWhole),
        Row("past its own end", Heads.rest, Heads.part(Heads.range(3, 9, of: 8)), .askWhole),
        Row("past the known end", Heads.rest, Heads.part(Heads.range(3, 9, of: nil)), .askWhole),
        Row("no Content-Range", Heads.rest, Heads.part(nil), .askWhole),
        Row(
            "no Content-Range, the rest's length",
            Heads.rest,
            Heads.part(nil, length: .bytes(5)),
            .askWhole
        ),
        Row(
            "no Content-Range, the whole length",
            Heads.rest,
            Heads.part(nil, length: .bytes(8)),
            .askWhole
        ),
        Row("the form of a 416", Heads.rest, Heads.part(.unsatisfied(total: 8)), .askWhole),
        Row(
            "multipart",
            Heads.rest,
            Heads.part(nil, mimeType: "multipart/byteranges"),
            .askWhole
        ),
        Row(
            "multipart with a Content-Range",
            Heads.rest,
            Heads.part(mimeType: "multipart/byteranges"),
            .askWhole
        ),
        // The right words over the whole body: gopeed #1460.
        Row(
            "the whole length under the right range",
            Heads.rest,
            Heads.part(length: .bytes(8)),
            .askWhole
        ),
        Row(
            "a length below its own range's",
            Heads.rest,
            Heads.part(length: .bytes(4)),
            .askWhole
        ),
    ])
    func `a range that is not what was asked for brings the file as a whole`(row: Row) {
        let judgement = row.judgement
        #expect(Verdict(judgement) == row.verdict)
        #expect(judgement.version == Heads.known.withoutRanges)
    }

    /// Scripts that set Content-Range and forget the status.
    @Test(arguments: [
        Row("the part", Heads.rest, part(Heads.range(3, 8, of: 8), 5), .askWhole),
        Row("the part, no length", Heads.rest, part(Heads.range(3, 8, of: 8), nil), .askWhole),
        Row("a beginning", Heads.rest, part(Heads.range(0, 5, of: 8), 5), .askWhole),
        Row("no part", Heads.rest, part(.unsatisfied(total: 8), 8), .askWhole),
        Row("what cannot be read", Heads.rest, part(nil, 5, isOdd: true), .askWhole),
        Row("a part of the plain GET", .whole, part(Heads.range(3, 8, of: 8), 5), .fail),
        Row("a beginning of the plain GET", .whole, part(Heads.range(0, 5, of: 8), 5), .fail),
        Row("a beginning, no length", .whole, part(Heads.range(0, 5, of: 8), nil), .fail),
        Row("all of it", .whole, part(Heads.range(0, 8, of: 8), 8), .compare),
        Row("all of it, no length", .whole, part(Heads.range(0, 8, of: 8), nil), .compare),
        Row("all of it, wrongly counted", .whole, part(nil, 8, isOdd: true), .compare),
    ])
    func `a 200 with a Content-Range is the file only where that is all of it`(row: Row) {
        var row = row
        if row.facts.contentLength == .unknown { row.known.total = nil }
        #expect(Verdict(row.judgement) == row.verdict)
    }

    @Test func `a 200 as long as the part that was asked for is that part`() throws {
        let sample = try #require(ByteRange(from: 0, to: 3))
        let rows = [
            Row("the rest", Heads.rest, Heads.whole(length: .bytes(5)), .askWhole),
            Row("a new tag", Heads.rest, Heads.whole(Heads.otherTag, length: .bytes(5)), .askWhole),
            Row("a sample", .sample(sample), Heads.whole(length: .bytes(3)), .askWhole),
            Row("all of it", .ending(sample), Heads.whole(length: .bytes(8)), .compare),
            Row("neither", Heads.rest, Heads.whole(Heads.otherTag, length: .bytes(6)), .begin),
        ]
        for row in rows { #expect(Verdict(row.judgement) == row.verdict, "\(row)") }
    }

    private static func part(
        _ range: ContentRange?,
        _ length: Int64?,
        isOdd: Bool = false
    ) -> ResponseFacts {
        var facts = Heads.whole(length: length.map { .bytes($0) } ?? .unknown)
        facts.contentRange = range
        facts.hasUnreadableRange = isOdd
        return facts
    }

    @Test(arguments: [204, 205, 304, 400, 405, 406, 409, 411, 412, 413, 417, 501])
    func `a status that may mean the range has the file asked for as a whole`(status: Int) {
        let facts = ResponseFacts(status: status)
        let judgement = facts.judge(
            asked: Heads.rest,
            known: Heads.known,
            onDisk: Sample.first(3)
        )
        #expect(judgement == .askAgain(.whole, Heads.known.withoutRanges))
        let whole = facts.judge(asked: .whole, known: Heads.known, onDisk: Sample.first(3))
        #expect(whole.failure != nil)
    }

    @Test(arguments: [401, 403, 404, 410, 429, 500, 503])
    func `any other status fails the request`(status: Int) {
        let judgement = ResponseFacts(status: status).judge(
            asked: Heads.rest,
            known: Heads.known,
            onDisk: Sample.first(3)
        )
        #expect(judgement.failure != nil)
    }

    @Test(arguments: [Heads.tag, Heads.otherTag])
    func `a server that got a range wrong is never asked for one again`(tag: EntityTag) throws {
        let wrong = Heads.part(Heads.range(0, 8, of: 8)).judge(
            asked: Heads.rest,
            known: Heads.known,
            onDisk: Sample.first(3)
        )
        let known = try #require(wrong.version)
        let judgement = Heads.whole(tag).judge(
            asked: .whole,
            known: known,
            onDisk: Sample.first(3)
        )
        let version = try #require(judgement.version)
        #expect(Ask.first(for: Sample.first(3), of: version) == .whole)
        #expect(!version.isResumable)
    }

    @Test(arguments: [Heads.tag, Heads.otherTag])
    func `a host's dislike of If-Range outlives a whole answer`(tag: EntityTag) throws {
        var shy = Heads.known
        shy.dislikesIfRange = true
        let judgement = Heads.whole(tag).judge(
            asked: .whole,
            known: shy,
            onDisk: Sample.first(3)
        )
        let version = try #require(judgement.version)
        #expect(Ask.first(for: Sample.first(3), of: version) == .rest(from: 3, ifRange: nil))
    }

    @Test(arguments: [
        Row("all of it", .whole, Heads.part(Heads.range(0, 8, of: 8)), held: 0, .begin),
        Row("all of it, bytes on disk", .whole, Heads.part(Heads.range(0, 8, of: 8)), .compare),
        Row(
            "all of it, another tag",
            .whole,
            Heads.part(Heads.range(0, 8, of: 8), Heads.otherTag),
            .begin
        ),
        Row(
            "all of it, another of several tags",
            .whole,
            Heads.part(Heads.range(0, 8, of: 8), Heads.otherTag),
            otherTag: .nothing,
            .prove
        ),
        Row("a beginning", .whole, Heads.part(Heads.range(0, 5, of: 8)), held: 0, .fail),
        Row("an end", .whole, Heads.part(), held: 0, .fail),
        Row("an unknown total", .whole, Heads.part(Heads.range(0, 8, of: nil)), held: 0, .fail),
        Row("no Content-Range", .whole, Heads.part(nil), held: 0, .fail),
        Row(
            "encoded",
            .whole,
            Heads.part(Heads.range(0, 8, of: 8), encoding: "gzip"),
            held: 0,
            .fail
        ),
    ])
    func `a 206 that nobody asked for is taken only when it is the whole file`(row: Row) {
        #expect(Verdict(row.judgement) == row.verdict)
        if let failure = row.judgement.failure { #expect(failure.code == .serverBadResponse) }
    }

    // MARK: Rule 6: the 416

    @Test(arguments: [
        Row(
            "our total, our tag",
            .rest(from: 8, ifRange: "\"a\""),
            Heads.unsatisfied(.unsatisfied(total: 8)),
            held: 8,
            .complete
        ),
        Row(
            "our total, another tag",
            .rest(from: 8, ifRange: "\"a\""),
            Heads.unsatisfied(.unsatisfied(total: 8), Heads.otherTag),
            held: 8,
            .askWhole
        ),
        Row(
            "our total, no tag",
            .rest(from: 8, ifRange: "\"a\""),
            Heads.unsatisfied(.unsatisfied(total: 8), nil),
            held: 8,
            .askWhole
        ),
        Row(
            "no total",
            .rest(from: 8, ifRange: "\"a\""),
            Heads.unsatisfied(nil),
            held: 8,
            .askWhole
        ),
        Row(
            "the form of a 206",
            .rest(from: 8, ifRange: "\"a\""),
            Heads.unsatisfied(Heads.range(0, 8, of: 8)),
            held: 8,
            .askWhole
        ),
        Row(
            "it shrank",
            .rest(from: 6, ifRange: "\"a\""),
            Heads.unsatisfied(.unsatisfied(total: 4)),
            held: 6,
            .askWhole
        ),
        Row(
            "it grew",
            .rest(from: 8, ifRange: "\"a\""),
            Heads.unsatisfied(.unsatisfied(total: 9)),
            held: 8,
            .askWhole
        ),
        Row(
            "it ends where we stand, short of what is known",
            Heads.rest,
            Heads.unsatisfied(.unsatisfied(total: 3)),
            .askWhole
        ),
        Row(
            "our total, but not all bytes are here",
            Heads.rest,
            Heads.unsatisfied(.unsatisfied(total: 8)),
            .askWhole
        ),
        Row(
            "our total, more asked than held",
            .rest(from: 8, ifRange: "\"a\""),
            Heads.unsatisfied(.unsatisfied(total: 8)),
            held: 7,
            .askWhole
        ),
        Row(
            "nobody asked for a range",
            .whole,
            Heads.unsatisfied(.unsatisfied(total: 8)),
            held: 8,
            .fail
        ),
    ])
    func `a 416 is success only for all our bytes of our version`(row: Row) {
        #expect(Verdict(row.judgement) == row.verdict)
    }

    @Test func `a 416 to a plain GET is a refused range`() {
        let judgement = Heads.unsatisfied(nil).judge(
            asked: .whole,
            known: Heads.known,
            onDisk: SegmentMap()
        )
        #expect(judgement.failure?.code == .serverRangeRefused)
    }
}
