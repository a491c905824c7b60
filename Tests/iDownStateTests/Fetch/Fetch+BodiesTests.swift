// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

/// A file of 8 bytes, the first 3 of which are on disk.
@Suite struct FetchBodiesTests {
    private static let tagged = Heads.known
    private static let other = RemoteVersion(total: 8, entityTag: Heads.otherTag)
    private static let overlap = Ask.overlap(from: 1, resumingAt: 3, to: nil)
    private static func range(_ first: Int64, _ end: Int64) -> ByteRange {
        guard let range = ByteRange(from: first, to: end) else {
            preconditionFailure("\(first) to \(end) is no range")
        }
        return range
    }
    private static let sample = Ask.sample(range(0, 2))

    /// An attempt with one connection, whose head is judged.
    private static func fetch(
        _ ask: Ask,
        _ judgement: Judgement,
        length: ContentLength = .bytes(8)
    ) -> Fetch {
        var fetch = Fetch(
            TaskRequest(url: "https://host.example/f?token=1", directory: "/"),
            home: "https://host.example/f?token=1",
            mirrors: [],
            known: tagged,
            segments: SegmentMap([range(0, 3)])
        )
        let (id, route) = fetch.requests.begin(ask, of: 0, at: .zero)
        let host = Origin(scheme: "https", host: "host.example", port: 443)
        let facts = ResponseFacts(status: 200, contentLength: length)
        var answer = Fetch.Answer(facts, on: route, at: host)
        answer.path = "/f"
        fetch.requests.judged(id, judgement, answer)
        return fetch
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let what: String
        let ask: Ask
        let judgement: Judgement
        /// Where the body goes; nil where nothing is stored.
        var start: Int64?
        var end: Int64?
        var compared: [ByteRange] = []
        var isProof = false
        /// How many bytes on disk count from then on.
        var kept: Int64 = 3
        /// What counts where the second byte differs; nil where the answer is no use.
        var keptAfterDifference: Int64?
        /// What an answer of which all has come leads to, where nothing differs.
        var answer: Questions.Answer? = .stored

        var testDescription: String { what }
    }

    static let rows: [Row] = [
        Row(
            what: "a new version begins with nothing",
            ask: .whole,
            judgement: .begin(other),
            start: 0,
            end: 8,
            kept: 0,
            keptAfterDifference: 0
        ),
        Row(
            what: "the rest goes behind what is there",
            ask: Heads.rest,
            judgement: .resume(tagged),
            start: 3,
            end: 8,
            keptAfterDifference: 1
        ),
        Row(
            what: "what comes once more is compared",
            ask: Heads.rest,
            judgement: .compare(tagged),
            start: 0,
            end: 8,
            compared: [range(0, 3)],
            keptAfterDifference: 1
        ),
        Row(
            what: "all that is there proves what it is",
            ask: .whole,
            judgement: .prove(other, from: 0),
            start: 0,
            end: 8,
            compared: [range(0, 3)],
            isProof: true,
            keptAfterDifference: 1,
            answer: .stored
        ),
        Row(
            what: "the end of what is there proves what it is, or that it is nothing",
            ask: overlap,
            judgement: .prove(other, from: 1),
            start: 1,
            end: 8,
            compared: [range(1, 3)],
            isProof: true,
            keptAfterDifference: nil,
            answer: .again(.whole, tagged)
        ),
        Row(
            what: "whoever sends all in place of the end is compared with all that is there",
            ask: overlap,
            judgement: .prove(other, from: 0),
            start: 0,
            end: 8,
            compared: [range(0, 3)],
            isProof: true,
            keptAfterDifference: 1,
            answer: .stored
        ),
        Row(
            what: "a sample is compared, and nothing else",
            ask: sample,
            judgement: .check,
            start: 0,
            end: 2,
            compared: [range(0, 2)],
            isProof: true,
            keptAfterDifference: nil,
            answer: .equal
        ),
        Row(what: "what is there already has no body", ask: .whole, judgement: .complete(tagged)),
        Row(what: "a failure has none", ask: .whole, judgement: .fail(.status(404))),
    ]

    @Test func `an answer without a length that differs is asked for anew`() {
        var fetch = Self.fetch(.whole, .prove(Self.other, from: 0), length: .unknown)
        #expect(fetch.open(1)?.isProof == true)
        fetch.requests.brings(1, from: 0, at: .zero)
        #expect(fetch.differs(1, at: 1) == .worthless)
        #expect(fetch.content.stored.isEmpty)
        #expect(fetch.answer(1, isWhole: false) == .again(.whole, RemoteVersion()))
    }

    @Test(arguments: rows) func `a judged head says where the body goes`(row: Row) {
        var fetch = Self.fetch(row.ask, row.judgement)
        let body = fetch.open(1)
        #expect(body?.start == row.start)
        #expect(body?.end == row.end)
        #expect(body?.compared.ranges ?? [] == row.compared)
        #expect(body?.isProof ?? false == row.isProof)
        #expect(fetch.content.stored.byteCount == row.kept)
        guard let body else { return }
        fetch.requests.brings(1, from: body.start, at: .zero)
        var different = fetch
        let goesOn = different.differs(1, at: 1) != .worthless
        #expect(goesOn == (row.keptAfterDifference != nil))
        #expect(different.content.stored.byteCount == row.keptAfterDifference ?? 0)
        if !goesOn {
            #expect(different.answer(1, isWhole: false) == .again(.whole, RemoteVersion()))
        }
        #expect(fetch.answer(1, isWhole: false) == nil)
        fetch.stored(1, upTo: body.end ?? 0)
        #expect(fetch.answer(1, isWhole: true) == row.answer)
    }

    @Test func `proven bytes are the new version's`() {
        var fetch = Self.fetch(Self.overlap, .prove(Self.other, from: 1))
        _ = fetch.open(1)
        #expect(fetch.content.known == Self.tagged)
        #expect(fetch.proven(1) == false)
        #expect(fetch.content.known == Self.other)
        #expect(fetch.answer(1, isWhole: true) == .stored)
        let second = fetch.proven(1)
        #expect(second == nil)
    }

    /// An equal tag in a part of the file, by the path of the URL that gave it; the first answer
    /// came from `/f`.
    @Test(arguments: [true, false])
    func `an equal tag counts only where one URL gave both`(isAfterRestart: Bool) {
        for (path, verdict) in [("/f", Verdict.resume), ("/v2/f", .askWhole)] {
            var fetch = Self.fetch(.whole, .begin(Self.tagged))
            if !isAfterRestart {
                _ = fetch.open(1)
                fetch.requests.brings(1, from: 0, at: .zero)
                fetch.stored(1, upTo: 3)
            }
            for isLead in [true, false] {
                let ask = isLead ? Heads.rest : .part(Self.range(3, 8), ifRange: "\"a\"")
                let host = Origin(scheme: "https", host: "host.example", port: 443)
                let route = Requests.Route(ask, as: isLead ? .lead : .gap, from: 0)
                var answer = Fetch.Answer(Heads.part(), on: route, at: host)
                answer.path = path
                #expect(Verdict(fetch.judge(answer, over: 2)) == verdict, "\(path)")
            }
        }
    }

    /// A head that is of no use, and what the next attempt asks first.
    @Test(arguments: [
        (Heads.whole(), Heads.plainRest),
        (Heads.part(Heads.range(3, 8, of: 8), Heads.otherTag), .whole),
        (Heads.part(nil), .whole),
        (ResponseFacts(status: 416), .whole),
    ])
    func `the next attempt does not ask for a useless answer again`(
        facts: ResponseFacts,
        next: Ask
    ) {
        var fetch = Self.fetch(Heads.rest, .fail(.status(503)))
        let (id, route) = fetch.requests.begin(Heads.rest, of: 0, at: .zero)
        let host = Origin(scheme: "https", host: "host.example", port: 443)
        var answer = Fetch.Answer(facts, on: route, at: host)
        answer.path = "/f"
        _ = fetch.judge(answer, over: id)
        answer.facts = ResponseFacts(status: 503)
        _ = fetch.judge(answer, over: id)
        for hasFailed in [true, false] {
            let later = Fetch(
                fetch.request,
                home: fetch.sources.current,
                mirrors: [],
                known: Self.tagged,
                segments: SegmentMap([Self.range(0, 3)]),
                memory: fetch.memory(after: .status(503)),
                hasFailed: hasFailed
            )
            #expect(later.firstAsk == (hasFailed ? next : Heads.rest))
        }
        answer.facts = Heads.whole()
        answer.route = Requests.Route(.whole, as: .lead, from: 0)
        _ = fetch.judge(answer, over: id)
        #expect(fetch.firstAsk == Heads.rest)
    }

    @Test func `a body without a length ends a byte behind the size that is expected`() {
        var request = TaskRequest(url: "https://host.example/f", directory: "/")
        request.expectedSize = 5
        var fetch = Fetch(request, home: request.url, mirrors: [])
        let (id, route) = fetch.requests.begin(.whole, of: 0, at: .zero)
        let host = Origin(scheme: "https", host: "host.example", port: 443)
        let facts = ResponseFacts(status: 200, mimeType: "application/zip")
        let answer = Fetch.Answer(facts, on: route, at: host)
        _ = fetch.judge(answer, over: id)
        #expect(fetch.open(id)?.end == 6)
    }
}
