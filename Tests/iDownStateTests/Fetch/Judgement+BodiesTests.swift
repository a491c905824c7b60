// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

/// The ladder's rules 7 and 8: encoded bodies, and answers that cannot be a file.
@Suite struct JudgementBodiesTests {
    typealias Row = JudgementRow

    // MARK: Rule 7: encodings

    @Test(arguments: [
        Row("asked for all", .whole, Heads.whole(encoding: "gzip"), held: 0, .begin),
        Row("asked for all, bytes on disk", .whole, Heads.whole(encoding: "br"), .begin),
        Row("asked for the rest", Heads.rest, Heads.whole(encoding: "gzip"), .askWhole),
        Row("an encoded part", Heads.rest, Heads.part(encoding: "gzip"), .askWhole),
        Row(
            "a file that is itself compressed",
            .whole,
            Heads.whole(encoding: "gzip"),
            held: 0,
            keepsEncoding: true,
            .begin
        ),
        Row(
            "the same, bytes on disk",
            .whole,
            Heads.whole(encoding: "gzip"),
            keepsEncoding: true,
            .compare
        ),
        Row(
            "an encoded part of a compressed file",
            Heads.rest,
            Heads.part(length: .bytes(5), encoding: "gzip"),
            keepsEncoding: true,
            .resume
        ),
        Row(
            "the same, without a length",
            Heads.rest,
            Heads.part(encoding: "gzip"),
            keepsEncoding: true,
            .askWhole
        ),
        Row(
            "the same, of another total",
            Heads.rest,
            Heads.part(Heads.range(3, 8, of: 9), length: .bytes(5), encoding: "gzip"),
            keepsEncoding: true,
            .askWhole
        ),
        Row(
            "the same, with another tag",
            Heads.rest,
            Heads.part(
                Heads.range(3, 8, of: 8),
                Heads.otherTag,
                length: .bytes(5),
                encoding: "gzip"
            ),
            keepsEncoding: true,
            .askWhole
        ),
        Row(
            "an encoded whole in place of a compressed file's part",
            Heads.plainRest,
            Heads.whole(encoding: "gzip"),
            keepsEncoding: true,
            .compare
        ),
        Row(
            "a part with a word that is no coding",
            Heads.rest,
            Heads.part(encoding: "aws-chunked"),
            .resume
        ),
        Row(
            "two codings",
            .whole,
            Heads.whole(encoding: "gzip, br"),
            held: 0,
            .begin
        ),
        Row(
            "as many codings as there may be",
            .whole,
            Heads.whole(encoding: "gzip, gzip, gzip, gzip, gzip"),
            held: 0,
            .begin
        ),
        Row(
            "one more",
            .whole,
            Heads.whole(encoding: "gzip, gzip, gzip, gzip, gzip, gzip"),
            held: 0,
            .fail
        ),
        Row(
            "a word that is no coding",
            .whole,
            Heads.whole(encoding: "utf-8"),
            held: 0,
            .begin
        ),
        Row(
            "a compressed file sent plainly",
            Heads.rest,
            Heads.part(),
            keepsEncoding: true,
            .resume
        ),
    ])
    func `an encoded body is one stream`(row: Row) {
        #expect(Verdict(row.judgement) == row.verdict)
    }

    @Test func `a decoded file has no known length and no ranges`() throws {
        let judgement = Heads.whole(encoding: "gzip").judge(
            asked: .whole,
            known: RemoteVersion(),
            onDisk: SegmentMap()
        )
        let version = try #require(judgement.version)
        #expect(version.total == nil)
        #expect(!version.servesRanges && version.refusesRanges)
    }

    @Test(arguments: [
        ("gzip", [ContentCoding.gzip]), ("deflate, br", [.deflate, .brotli]),
        ("x-gzip zstd", [.gzip, .zstd]), ("gzip, identity", [.gzip]),
        ("gzip, unheard-of", []), ("identity", []), ("", []), (nil, []),
    ])
    func `known codings alone are taken off`(encoding: String?, codings: [ContentCoding]) {
        let facts = Heads.whole(encoding: encoding)
        #expect(facts.codings(keepsEncoding: false) == codings)
        #expect(facts.codings(keepsEncoding: true) == [])
    }

    @Test(arguments: [true, false])
    func `a compressed file keeps its encoding, its length and its ranges`(
        refusesRanges: Bool
    ) throws {
        let facts = Heads.whole(
            acceptsRanges: !refusesRanges,
            refusesRanges: refusesRanges,
            encoding: "gzip"
        )
        let judgement = facts.judge(
            asked: .whole,
            known: RemoteVersion(),
            onDisk: SegmentMap(),
            keepsEncoding: true
        )
        let version = try #require(judgement.version)
        #expect(version.total == 8)
        #expect(version.servesRanges == !refusesRanges)
        #expect(version.refusesRanges == refusesRanges)
    }

    // MARK: Rule 8: what cannot be a file

    @Test(arguments: [
        100, 101, 103, 199, 201, 202, 204, 205, 207, 226, 300, 304, 305, 306, 399, 400, 405, 418,
        600, 999, 0, -1, 99,
    ])
    func `a status that brings no file is a bad response`(status: Int) {
        let mayMeanRange = [204, 205, 304, 400, 405].contains(status)
        let partial = mayMeanRange ? [] : [Heads.rest, Heads.plainRest]
        for ask in [Ask.whole] + partial {
            let facts = ResponseFacts(
                status: status,
                contentLength: .bytes(8),
                entityTag: Heads.tag
            )
            let judgement = facts.judge(asked: ask, known: Heads.known, onDisk: Sample.first(3))
            #expect(judgement.failure?.code == .serverBadResponse)
            #expect(judgement.failure?.isTransient == false)
        }
    }

    @Test(arguments: [Duration.zero, .seconds(30)])
    func `an accepted request is asked again when the server says`(wish: Duration) throws {
        var facts = ResponseFacts(status: 202, contentLength: .bytes(8))
        facts.retryAfter = wish
        for ask in [Ask.whole, Heads.rest] {
            let judgement = facts.judge(asked: ask, known: Heads.known, onDisk: Sample.first(3))
            let failure = try #require(judgement.failure)
            #expect(failure.code == .serverBusy)
            #expect(failure.isTransient)
            #expect(failure.retryAfter == (wish == .zero ? nil : wish))
        }
    }

    @Test(arguments: [200, 206, 301, 416, 503])
    func `a length that is none is a bad response, whatever the status`(status: Int) {
        let facts = ResponseFacts(
            status: status,
            contentLength: .invalid,
            contentRange: Heads.range(3, 8, of: 8),
            entityTag: Heads.tag,
            location: "/there"
        )
        let judgement = facts.judge(
            asked: Heads.rest,
            known: Heads.known,
            onDisk: Sample.first(3)
        )
        #expect(judgement.failure?.code == .serverBadResponse)
    }

    @Test(arguments: [false, true])
    func `what has no status line is a bad response`(keepsEncoding: Bool) {
        var facts = Heads.whole(encoding: "gzip")
        facts.isUnreadable = true
        let judgement = facts.judge(
            asked: .whole,
            known: Heads.known,
            onDisk: SegmentMap(),
            keepsEncoding: keepsEncoding
        )
        #expect(judgement.failure?.code == .serverBadResponse)
    }

    @Test(arguments: [200, 206])
    func `what is coded for the way is no file`(status: Int) {
        var facts = status == 200 ? Heads.whole() : Heads.part()
        facts.hasTransferCoding = true
        let onDisk = Sample.first(3)
        let whole = facts.judge(asked: .whole, known: Heads.known, onDisk: onDisk)
        #expect(whole.failure?.code == .serverBadResponse)
        let part = facts.judge(asked: Heads.rest, known: Heads.known, onDisk: onDisk)
        #expect(part == .askAgain(.whole, Heads.known.withoutRanges))
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect leads to its Location`(status: Int) {
        let facts = ResponseFacts(status: status, location: "/there")
        for ask in [Ask.whole, Heads.rest] {
            let judgement = facts.judge(asked: ask, known: Heads.known, onDisk: Sample.first(3))
            #expect(judgement == .redirect(to: "/there"))
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308], [nil, ""])
    func `a redirect to nowhere is a bad response`(status: Int, location: String?) {
        let facts = ResponseFacts(status: status, location: location)
        let judgement = facts.judge(asked: .whole, known: Heads.known, onDisk: SegmentMap())
        #expect(judgement.failure == .badResponse("redirects, but to no URL"))
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect to several places at once is refused as such`(status: Int) {
        let facts = ResponseFacts(status: status, hasSeveralLocations: true)
        let judgement = facts.judge(asked: .whole, known: Heads.known, onDisk: SegmentMap())
        #expect(judgement.failure == .badResponse("redirects to several URLs at once"))
    }

    @Test(arguments: [401, 403, 404, 408, 410, 429, 451, 500, 502, 503, 520])
    func `an error status fails with its own code and the server's wish`(status: Int) {
        let facts = ResponseFacts(
            status: status,
            contentLength: .bytes(8),
            entityTag: Heads.tag,
            retryAfter: .seconds(7)
        )
        for ask in [Ask.whole, Heads.rest] {
            let judgement = facts.judge(asked: ask, known: Heads.known, onDisk: Sample.first(3))
            #expect(judgement == .fail(.status(status, retryAfter: .seconds(7))))
        }
    }

    @Test func `only a length that was given is one`() {
        #expect(ContentLength.bytes(0).bytes == 0)
        #expect(ContentLength.unknown.bytes == nil)
        #expect(ContentLength.invalid.bytes == nil)
    }
}
