// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

/// The ladder's rules 1 to 3, and the servers of research/engines.md 1.1.
@Suite struct JudgementTests {
    typealias Row = JudgementRow

    // MARK: Rule 1: the plain GET

    @Test(arguments: [
        Row("nothing on disk", .whole, Heads.whole(), known: RemoteVersion(), held: 0, .begin),
        Row(
            "203 is as good",
            .whole,
            ResponseFacts(status: 203),
            known: RemoteVersion(),
            held: 0,
            .begin
        ),
        Row(
            "no length, no validator",
            .whole,
            Heads.whole(nil, length: .unknown),
            known: RemoteVersion(),
            held: 0,
            .begin
        ),
        Row(
            "an empty file",
            .whole,
            Heads.whole(length: .bytes(0)),
            known: RemoteVersion(),
            held: 0,
            .begin
        ),
        Row("bytes on disk, the same version", .whole, Heads.whole(), .compare),
        Row(
            "bytes on disk, the same strong date",
            .whole,
            Heads.whole(nil, Heads.date),
            known: Heads.dated,
            .compare
        ),
        Row("bytes on disk, another tag", .whole, Heads.whole(Heads.otherTag), .begin),
        Row(
            "bytes on disk, another of several tags",
            .whole,
            Heads.whole(Heads.otherTag),
            otherTag: .nothing,
            .prove
        ),
        Row(
            "bytes on disk, another date",
            .whole,
            Heads.whole(nil, Heads.otherDate),
            known: Heads.dated,
            .begin
        ),
        Row("bytes on disk, another length", .whole, Heads.whole(length: .bytes(9)), .begin),
        Row(
            "bytes on disk, a weak tag",
            .whole,
            Heads.whole(Heads.weakTag),
            known: RemoteVersion(total: 8, entityTag: Heads.weakTag),
            .prove
        ),
        Row(
            "bytes on disk, a fresh date",
            .whole,
            Heads.whole(nil, Heads.freshDate),
            known: RemoteVersion(total: 8, lastModified: Heads.freshDate),
            .prove
        ),
        Row(
            "bytes on disk, no validator",
            .whole,
            Heads.whole(nil),
            known: RemoteVersion(total: 8),
            .prove
        ),
        Row("bytes on disk, the validator is gone", .whole, Heads.whole(nil), .prove),
        Row(
            "bytes on disk, no validator and no length",
            .whole,
            Heads.whole(nil, length: .unknown),
            .prove
        ),
        Row(
            "bytes on disk, nothing under the same tag",
            .whole,
            Heads.whole(length: .bytes(0)),
            .fail
        ),
        Row(
            "bytes on disk, nothing under another tag",
            .whole,
            Heads.whole(Heads.otherTag, length: .bytes(0)),
            .begin
        ),
        Row(
            "bytes on disk, the same tag of another host",
            .whole,
            Heads.whole(),
            isOfSamePlace: false,
            .prove
        ),
    ])
    func `a plain GET begins, or compares with the same version`(row: Row) {
        #expect(Verdict(row.judgement) == row.verdict)
    }

    @Test func `what the first answer says of the file is recorded`() {
        let facts = Heads.whole(Heads.tag, Heads.date)
        let judgement = facts.judge(asked: .whole, known: RemoteVersion(), onDisk: SegmentMap())
        #expect(
            judgement
                == .begin(
                    RemoteVersion(
                        total: 8,
                        entityTag: Heads.tag,
                        lastModified: Heads.date,
                        mimeType: "application/zip",
                        servesRanges: true
                    )
                )
        )
    }

    @Test(arguments: [
        (false, false, false, false), (true, false, true, false),
        (false, true, false, true), (true, true, false, true),
    ])
    func `Accept-Ranges none stands above bytes`(
        accepts: Bool,
        refuses: Bool,
        serves: Bool,
        isRefused: Bool
    ) throws {
        let facts = Heads.whole(acceptsRanges: accepts, refusesRanges: refuses)
        let judgement = facts.judge(asked: .whole, known: RemoteVersion(), onDisk: SegmentMap())
        let version = try #require(judgement.version)
        #expect(version.servesRanges == serves)
        #expect(version.refusesRanges == isRefused)
    }

    // MARK: Rule 2: the 206

    @Test(arguments: [
        Row("the right one", Heads.rest, Heads.part(), .resume),
        Row("its length beside it", Heads.rest, Heads.part(length: .bytes(5)), .resume),
        Row("without condition", Heads.plainRest, Heads.part(), .resume),
        Row(
            "the right date",
            Heads.datedRest,
            Heads.part(Heads.range(3, 8, of: 8), nil, Heads.date),
            known: Heads.dated,
            .resume
        ),
        Row("shorter than asked", Heads.rest, Heads.part(Heads.range(3, 5, of: 8)), .resume),
        Row("an unknown total", Heads.rest, Heads.part(Heads.range(3, 8, of: nil)), .resume),
        Row("another total", Heads.rest, Heads.part(Heads.range(3, 8, of: 9)), .askWhole),
        Row(
            "another tag",
            Heads.rest,
            Heads.part(Heads.range(3, 8, of: 8), Heads.otherTag),
            .askWhole
        ),
        Row(
            "the tag turned weak",
            Heads.rest,
            Heads.part(Heads.range(3, 8, of: 8), Heads.weakTag),
            .askWhole
        ),
        Row("no tag", Heads.plainRest, Heads.part(Heads.range(3, 8, of: 8), nil), .askWhole),
        Row(
            "another date",
            Heads.datedRest,
            Heads.part(Heads.range(3, 8, of: 8), nil, Heads.otherDate),
            known: Heads.dated,
            .askWhole
        ),
        Row(
            "no date",
            Heads.datedRest,
            Heads.part(Heads.range(3, 8, of: 8), nil),
            known: Heads.dated,
            .askWhole
        ),
        Row(
            "the same tag, another date",
            Heads.rest,
            Heads.part(Heads.range(3, 8, of: 8), Heads.tag, Heads.otherDate),
            known: RemoteVersion(total: 8, entityTag: Heads.tag, lastModified: Heads.date),
            .askWhole
        ),
        Row(
            "a date too fresh to prove anything",
            Heads.plainRest,
            Heads.part(Heads.range(3, 8, of: 8), nil, Heads.freshDate),
            known: RemoteVersion(total: 8, lastModified: Heads.freshDate),
            .askWhole
        ),
        Row(
            "equal weak tags prove nothing",
            Heads.plainRest,
            Heads.part(Heads.range(3, 8, of: 8), Heads.weakTag),
            known: RemoteVersion(total: 8, entityTag: Heads.weakTag),
            .askWhole
        ),
    ])
    func `a 206 must be the rest of the recorded version`(row: Row) {
        #expect(Verdict(row.judgement) == row.verdict)
    }

    @Test func `a server that gives a part is one that serves ranges`() throws {
        var known = Heads.known
        known.servesRanges = false
        known.dislikesIfRange = true
        known.mimeType = "application/zip"
        let judgement = Heads.part().judge(
            asked: Heads.plainRest,
            known: known,
            onDisk: Sample.first(3)
        )
        known.servesRanges = true
        #expect(judgement == .resume(known))
    }

    // MARK: Rule 3: the 200 to a range

    @Test(arguments: [
        Row("our tag and length", Heads.rest, Heads.whole(), .askPlainRest),
        Row(
            "our date and length",
            Heads.datedRest,
            Heads.whole(nil, Heads.date),
            known: Heads.dated,
            .askPlainRest
        ),
        Row("another tag", Heads.rest, Heads.whole(Heads.otherTag), .begin),
        Row(
            "another of several tags",
            Heads.rest,
            Heads.whole(Heads.otherTag),
            otherTag: .nothing,
            .prove
        ),
        Row(
            "another tag, other length",
            Heads.rest,
            Heads.whole(Heads.otherTag, length: .bytes(6)),
            .begin
        ),
        Row("our tag, another length", Heads.rest, Heads.whole(length: .bytes(9)), .begin),
        Row("no validator", Heads.rest, Heads.whole(nil), .prove),
        Row(
            "another date",
            Heads.datedRest,
            Heads.whole(nil, Heads.otherDate),
            known: Heads.dated,
            .begin
        ),
        // curl takes this for "already downloaded": a length that equals what is on disk.
        Row(
            "a length that equals what is on disk",
            Heads.rest,
            Heads.whole(Heads.otherTag, length: .bytes(3)),
            .begin
        ),
        Row("without condition, our version", Heads.plainRest, Heads.whole(), .compare),
        Row(
            "without condition, another tag",
            Heads.plainRest,
            Heads.whole(Heads.otherTag),
            .begin
        ),
        Row(
            "without condition, another tag, not asked yet",
            Heads.plainRest,
            Heads.whole(Heads.otherTag),
            otherTag: .unknown,
            .prove
        ),
        Row(
            "without condition, our version, chunked",
            Heads.plainRest,
            Heads.whole(length: .unknown),
            .compare
        ),
    ])
    func `a 200 to a range is another version, a shy host, or one without ranges`(row: Row) {
        #expect(Verdict(row.judgement) == row.verdict)
    }

    @Test func `a host that dislikes If-Range is remembered, and asked for the same rest`() {
        var shy = Heads.known
        shy.dislikesIfRange = true
        let judgement = Heads.whole().judge(
            asked: Heads.rest,
            known: Heads.known,
            onDisk: Sample.first(3)
        )
        #expect(judgement == .askAgain(Heads.plainRest, shy))
    }

    @Test func `a host that ignores a range may serve the next one`() {
        let judgement = Heads.whole().judge(
            asked: Heads.plainRest,
            known: Heads.known,
            onDisk: Sample.first(3)
        )
        var version = Heads.known
        version.servesRanges = false
        #expect(judgement == .compare(version))
    }

    @Test func `nothing is no newer version of what is on disk, unless it has a validator`() {
        let half = SegmentMap(ByteRange(first: 0, length: 50).map { [$0] } ?? [])
        let known = RemoteVersion(total: 100, servesRanges: true)
        // What is on record counts before its first byte.
        let rows: [(Ask, SegmentMap, ResponseFacts)] = [
            (.whole, half, ResponseFacts(status: 200, contentLength: .bytes(0))),
            (.rest(from: 50, ifRange: nil), half, .init(status: 200, contentLength: .bytes(0))),
            (.whole, SegmentMap(), ResponseFacts(status: 200, contentLength: .bytes(0))),
        ]
        for (ask, onDisk, head) in rows {
            var facts = head
            let judgement = facts.judge(asked: ask, known: known, onDisk: onDisk)
            guard case .fail(let failure) = judgement else {
                Issue.record("\(judgement)")
                continue
            }
            #expect(failure.code == .serverTruncated)
            #expect(failure.isTransient)
            let fresh = facts.judge(asked: .whole, known: RemoteVersion(), onDisk: SegmentMap())
            guard case .begin = fresh else {
                Issue.record("\(fresh)")
                continue
            }
            facts.entityTag = EntityTag(opaque: "\"v2\"", isWeak: false)
            guard case .begin = facts.judge(asked: ask, known: known, onDisk: onDisk) else {
                Issue.record("a new version was refused")
                continue
            }
        }
    }
}
