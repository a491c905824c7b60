// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

/// The ladder's rules 4 and 9: what only the bytes can prove, and pages in place of the file.
@Suite struct JudgementProofTests {
    /// A file of which half is on disk, more than an overlap.
    private static let (total, half): (Int64, Int64) = (1 << 20, 1 << 19)
    private static let known = RemoteVersion(
        total: total,
        entityTag: Heads.tag,
        mimeType: "application/zip",
        servesRanges: true
    )
    private static let bare = RemoteVersion(total: total, mimeType: "application/zip")
    private static let start = half - OverlapProof.overlap
    private static let overlap = Ask.overlap(from: start, resumingAt: half, to: nil)

    private static func known(_ change: (inout RemoteVersion) -> Void) -> RemoteVersion {
        var version = known
        change(&version)
        return version
    }

    private static func whole(
        _ tag: EntityTag?,
        _ date: LastModified? = nil,
        refusesRanges: Bool = false,
        mimeType: String = "application/zip"
    ) -> ResponseFacts {
        ResponseFacts(
            status: 200,
            contentLength: .bytes(total),
            entityTag: tag,
            lastModified: date,
            refusesRanges: refusesRanges,
            mimeType: mimeType
        )
    }

    private static func part(
        from first: Int64,
        to end: Int64 = total,
        _ tag: EntityTag?,
        _ date: LastModified? = nil,
        mimeType: String = "application/zip"
    ) -> ResponseFacts {
        ResponseFacts(
            status: 206,
            contentRange: Heads.range(first, end, of: total),
            entityTag: tag,
            lastModified: date,
            mimeType: mimeType
        )
    }

    private static func judge(
        _ facts: ResponseFacts,
        _ ask: Ask,
        _ known: RemoteVersion = known,
        otherTag: TagMeaning = .nothing
    ) -> Judgement {
        facts.judge(asked: ask, known: known, onDisk: Sample.first(half), otherTag: otherTag)
    }

    private static func judgeRest(
        _ facts: ResponseFacts,
        ifRange: String? = "\"a\"",
        _ known: RemoteVersion = known,
        otherTag: TagMeaning = .nothing
    ) -> Judgement {
        judge(facts, .rest(from: half, ifRange: ifRange), known, otherTag: otherTag)
    }

    // MARK: Rule 4

    @Test func `another tag is another file`() {
        let whole = Self.judgeRest(Self.whole(Heads.otherTag), otherTag: .anotherFile)
        #expect(Verdict(whole) == .begin)
        #expect(whole.version?.restsOnProof == false)
        let ask = Judgement.askAgain(.whole, Self.known)
        let part = Self.part(from: Self.half, Heads.otherTag)
        #expect(Self.judgeRest(part, otherTag: .anotherFile) == ask)
        let overlap = Self.part(from: Self.start, Heads.otherTag)
        #expect(Self.judge(overlap, Self.overlap, otherTag: .anotherFile) == ask)
        let sample = Self.part(from: 1000, to: 2000, Heads.otherTag)
        let question = ByteRange(from: 1000, to: 2000).map { Ask.sample($0) } ?? .whole
        #expect(Self.judge(sample, question, otherTag: .anotherFile) == ask)
        #expect(Self.judge(sample, question, otherTag: .unknown) == .check)
        // Samples that another node has answered prove nothing about this one.
        #expect(Self.judge(overlap, Self.overlap, otherTag: .unknown) == ask)
    }

    @Test(arguments: [TagMeaning.nothing, .unknown])
    func `a tag that may be one of several is asked to prove itself`(otherTag: TagMeaning) {
        let ask = Judgement.askAgain(Self.overlap, Self.known)
        #expect(Self.judgeRest(Self.whole(Heads.otherTag), otherTag: otherTag) == ask)
        let part = Self.part(from: Self.half, Heads.otherTag)
        #expect(Self.judgeRest(part, otherTag: otherTag) == ask)
    }

    @Test func `no tag, or the same tag turned weak, is asked to prove itself`() {
        let ask = Judgement.askAgain(Self.overlap, Self.known)
        #expect(Self.judgeRest(Self.whole(nil), otherTag: .anotherFile) == ask)
        let bare = Self.part(from: Self.half, nil)
        #expect(Self.judgeRest(bare, otherTag: .anotherFile) == ask)
        let weak = Self.part(from: Self.half, Heads.weakTag)
        #expect(Self.judgeRest(weak, ifRange: nil, otherTag: .anotherFile) == ask)
    }

    @Test func `another date needs no proof that it is another file`() {
        let dated = Self.known { $0.lastModified = Heads.date }
        let whole = Self.judgeRest(Self.whole(Heads.otherTag, Heads.otherDate), dated)
        #expect(Verdict(whole) == .begin)
        let part = Self.part(from: Self.half, Heads.otherTag, Heads.otherDate)
        #expect(Self.judgeRest(part, dated) == .askAgain(.whole, dated))
        let overlap = Self.part(from: Self.start, Heads.otherTag, Heads.otherDate)
        #expect(Self.judge(overlap, Self.overlap, dated) == .askAgain(.whole, dated))
    }

    @Test(arguments: [Heads.otherTag, Heads.weakTag, nil])
    func `equal bytes would make it the version of the answer, by proof`(tag: EntityTag?) {
        let judgement = Self.judge(Self.part(from: Self.start, tag), Self.overlap)
        let version = Self.known {
            $0.entityTag = tag ?? Heads.tag
            $0.restsOnProof = true
        }
        #expect(judgement == .prove(version, from: Self.start))
        #expect(version.provenIntegrity == .length)
    }

    @Test func `our own tag in the answer needs no new version`() {
        let judgement = Self.judge(Self.part(from: Self.start, Heads.tag), Self.overlap)
        #expect(judgement == .prove(Self.known, from: Self.start))
    }

    @Test func `the validators of another URL are another file's`() {
        let foreign = Self.known { $0.needsProof = true }
        let judgement = Self.judge(Self.part(from: Self.start, Heads.tag), Self.overlap, foreign)
        #expect(judgement == .prove(Self.known { $0.restsOnProof = true }, from: Self.start))
        let whole = Self.judge(Self.whole(Heads.tag), .whole, foreign)
        #expect(Verdict(whole) == .prove)
        #expect(whole.version?.needsProof == false)
    }

    @Test(arguments: [overlap, .rest(from: half, ifRange: nil)])
    func `all of the file in place of a part is proven from its start`(
        ask: Ask
    ) {
        let judgement = Self.judge(Self.whole(Heads.otherTag), ask)
        let version = Self.known {
            $0.entityTag = Heads.otherTag
            $0.servesRanges = false
            $0.restsOnProof = true
        }
        #expect(judgement == .prove(version, from: 0))
    }

    @Test func `a server without ranges proves with what it sends`() {
        let judgement = Self.judgeRest(Self.whole(Heads.otherTag, refusesRanges: true))
        #expect(judgement.version?.refusesRanges == true)
        #expect(Verdict(judgement) == .prove)
    }

    @Test func `a sample is checked when it is exactly the one that was asked for`() throws {
        let ask = Ask.sample(try #require(ByteRange(from: 1000, to: 2000)))
        #expect(Self.judge(Self.part(from: 1000, to: 2000, nil), ask, Self.bare) == .check)
        for (first, end) in [(1000, 1999), (1001, 2000), (1000, Self.total)] as [(Int64, Int64)] {
            let judgement = Self.judge(Self.part(from: first, to: end, nil), ask, Self.bare)
            #expect(judgement == .askAgain(.whole, Self.bare.withoutRanges))
        }
        let older = Self.known { $0.lastModified = Heads.date }
        let part = Self.part(from: 1000, to: 2000, Heads.tag, Heads.otherDate)
        #expect(Self.judge(part, ask, older) == .askAgain(.whole, older))
    }

    @Test func `the ending is checked where it is the file's still`() throws {
        let ending = try #require(ByteRange(from: Self.total - 1000, to: Self.total))
        let part = Self.part(from: ending.first, to: ending.end, nil)
        #expect(Self.judge(part, .ending(ending), Self.bare) == .check)
        let shorter = Self.part(from: ending.first, to: ending.end - 1, nil)
        let judgement = Self.judge(shorter, .ending(ending), Self.bare)
        #expect(judgement == .askAgain(.whole, Self.bare.withoutRanges))
    }

    @Test func `a 416 to a proof brings the file as a whole`() {
        let facts = ResponseFacts(status: 416, contentRange: .unsatisfied(total: 10))
        #expect(Self.judge(facts, Self.overlap) == .askAgain(.whole, Self.known))
    }

    @Test func `what rests on a proof does so after a comparison with its strong tag`() {
        let proven = Self.known { $0.restsOnProof = true }
        let judgement = Self.judge(Self.whole(Heads.tag), .whole, proven)
        #expect(Verdict(judgement) == .compare)
        #expect(judgement.version?.restsOnProof == true)
    }

    @Test func `a proof leaves validators that its answer does not have, at the same URL`() {
        let facts = Self.part(from: Self.start, nil)
        for isHome in [true, false] {
            let judgement = facts.judge(
                asked: Self.overlap,
                known: Self.known,
                onDisk: Sample.first(Self.half),
                isOfSamePlace: isHome
            )
            guard case .prove(let proven, _) = judgement else {
                Issue.record("it is no proof")
                return
            }
            #expect(proven.entityTag == (isHome ? Heads.tag : nil))
            #expect(proven.restsOnProof)
        }
    }

    @Test func `a file that begins anew rests on no proof`() {
        let proven = Self.known {
            $0.restsOnProof = true
            $0.lastModified = Heads.date
        }
        let judgement = Self.judge(Self.whole(Heads.otherTag, Heads.otherDate), .whole, proven)
        #expect(Verdict(judgement) == .begin)
        #expect(judgement.version?.restsOnProof == false)
    }

    // MARK: Rule 9

    private static let pages = ["text/html", "application/xhtml+xml"]
    private static let messages = [
        "text/plain", "application/json", "application/problem+json", "text/xml",
        "application/xml",
    ]
    private static let files = ["application/zip", "image/svg+xml", "text/csv", ""]

    private static func known(as mimeType: String) -> RemoteVersion {
        Self.known { $0.mimeType = mimeType }
    }

    /// Answers without a validator that have the file's length, and what was asked for.
    private static func fitting(_ mimeType: String) -> [(ResponseFacts, Ask)] {
        let all = whole(nil, mimeType: mimeType)
        return [
            (all, .whole), (all, .rest(from: half, ifRange: nil)), (all, overlap),
            (part(from: 0, nil, mimeType: mimeType), .whole),
            (part(from: half, nil, mimeType: mimeType), .rest(from: half, ifRange: nil)),
            (part(from: start, nil, mimeType: mimeType), overlap),
        ]
    }

    /// The same of another length, of none, or encoded.
    private static func unfitting(_ mimeType: String) -> [(ResponseFacts, Ask)] {
        var rest = part(from: half, nil, mimeType: mimeType)
        rest.contentRange = Heads.range(half, total, of: nil)
        var answers = [(rest, Ask.rest(from: half, ifRange: nil))]
        for ask in [Ask.whole, .rest(from: half, ifRange: nil), overlap] {
            for length in [ContentLength.bytes(500), .bytes(total), .unknown] {
                var facts = whole(nil, mimeType: mimeType)
                facts.contentLength = length
                if length != .bytes(total) { answers.append((facts, ask)) }
                facts.contentEncoding = "gzip"
                answers.append((facts, ask))
            }
        }
        return answers
    }

    /// Whether the answer says that the link has expired, where bytes of this type are on disk.
    private static func isExpired(_ answer: (ResponseFacts, Ask), _ recorded: String) -> Bool {
        judge(answer.0, answer.1, known(as: recorded)) == .fail(.linkExpired)
    }

    @Test(arguments: pages, files + messages)
    func `a page in place of anything else is an expired link`(page: String, recorded: String) {
        for answer in Self.fitting(page) + Self.unfitting(page) {
            // A part of so many bytes is the file's, whatever its server calls it.
            var isPart = false
            if case .satisfied(_, Self.total?) = answer.0.contentRange { isPart = true }
            #expect(Self.isExpired(answer, recorded) == !isPart, "\(answer)")
        }
        #expect(!Failure.linkExpired.isTransient && !Failure.linkExpired.code.spoilsContent)
    }

    @Test(arguments: messages, files)
    func `a message of another length is an expired link`(message: String, recorded: String) {
        for answer in Self.unfitting(message) {
            #expect(Self.isExpired(answer, recorded), "\(answer)")
        }
        for answer in Self.fitting(message) {
            #expect(!Self.isExpired(answer, recorded), "\(answer)")
        }
    }

    @Test(arguments: [Ask.whole, .rest(from: half, ifRange: nil), overlap])
    func `an untyped answer of another length is an expired link`(ask: Ask) {
        var untyped = Self.whole(nil, mimeType: "")
        #expect(Verdict(Self.judge(untyped, ask, Self.known(as: "application/zip"))) == .prove)
        untyped.contentLength = .bytes(23)
        #expect(Self.isExpired((untyped, ask), "application/zip"))
        // Where no type is on record, none is missed.
        #expect(!Self.isExpired((untyped, ask), ""))
        // By FTP there is none.
        untyped.lacksValidators = true
        #expect(!Self.isExpired((untyped, ask), "application/zip"))
    }

    @Test(arguments: messages, messages + pages)
    func `one message in place of another is none, nor is it in place of a page`(
        message: String,
        recorded: String
    ) {
        for answer in Self.fitting(message) + Self.unfitting(message) {
            #expect(!Self.isExpired(answer, recorded), "\(answer)")
        }
    }

    @Test(arguments: pages, pages)
    func `a page in place of a page is a file`(page: String, recorded: String) {
        for answer in Self.fitting(page) + Self.unfitting(page) {
            #expect(!Self.isExpired(answer, recorded), "\(answer)")
        }
        let whole = Self.whole(nil, mimeType: page)
        let judgement = Self.judge(whole, .whole, Self.known(as: recorded))
        #expect(Verdict(judgement) == .prove)
    }

    @Test(arguments: pages + messages)
    func `anything is a file where no version is on record`(mimeType: String) {
        let facts = Self.whole(nil, mimeType: mimeType)
        for known in [RemoteVersion(), RemoteVersion(needsProof: true)] {
            let first = facts.judge(asked: .whole, known: known, onDisk: SegmentMap())
            #expect(Verdict(first) == .begin)
        }
    }

    @Test(arguments: pages + messages)
    func `a version on record tells a page from the file before any byte does`(
        mimeType: String
    ) {
        var facts = Self.whole(nil, mimeType: mimeType)
        facts.contentLength = .bytes(500)
        for known in [Self.known, Self.bare] {
            let first = facts.judge(asked: .whole, known: known, onDisk: SegmentMap())
            #expect(first == .fail(.linkExpired))
        }
        let same = Self.whole(Heads.otherTag, mimeType: "application/zip")
        let next = same.judge(asked: .whole, known: Self.known, onDisk: SegmentMap())
        #expect(Verdict(next) == .begin)
    }

    @Test(arguments: messages)
    func `what has the file's length is proven, whatever a fresh link calls it`(
        mimeType: String
    ) throws {
        let foreign = Self.known { $0.needsProof = true }
        let whole = Self.judge(Self.whole(Heads.tag, mimeType: mimeType), .whole, foreign)
        #expect(Verdict(whole) == .prove)
        let part = Self.part(from: Self.start, Heads.tag, mimeType: mimeType)
        let judgement = Self.judge(part, Self.overlap, foreign)
        #expect(Verdict(judgement) == .prove)
        // A message in place of the file is still told from it later.
        #expect(judgement.version?.mimeType == "application/zip")
        let sample = try #require(ByteRange(from: 1000, to: 2000))
        let piece = Self.part(from: 1000, to: 2000, Heads.tag, mimeType: mimeType)
        #expect(Self.judge(piece, .sample(sample), foreign) == .check)
    }

    @Test func `the strong tag stands above the type`() {
        #expect(
            Verdict(Self.judge(Self.whole(Heads.tag, mimeType: "text/html"), .whole)) == .compare
        )
    }

    @Test func `one type of file in place of another is another file, and no page`() {
        var facts = Self.whole(Heads.otherTag, mimeType: "application/x-tar")
        facts.contentLength = .bytes(77)
        #expect(Verdict(Self.judgeRest(facts)) == .begin)
    }
}
