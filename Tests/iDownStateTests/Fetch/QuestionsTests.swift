// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@testable import iDownState

@Suite struct QuestionsTests {
    private static let total: Int64 = 10 << 20
    private static let half = total / 2
    private static let tag = EntityTag(opaque: "\"a\"", isWeak: false)
    private static let tagged = RemoteVersion(total: total, entityTag: tag, servesRanges: true)
    private static let bare = RemoteVersion(total: total, servesRanges: true)

    /// An attempt with the first half on disk.
    private static func fetch(_ known: RemoteVersion = tagged, stored: Int64 = half) -> Fetch {
        Fetch(
            TaskRequest(url: "https://host.example/f", directory: "/"),
            home: "https://host.example/f",
            mirrors: [],
            known: known,
            segments: SegmentMap(ByteRange(from: 0, to: stored).map { [$0] } ?? [])
        )
    }

    /// What is asked, in words.
    private static func word(_ ask: Ask?) -> String {
        switch ask {
        case .whole: "whole"
        case .rest: "rest"
        case .part: "part"
        case .overlap: "overlap"
        case .sample: "sample"
        case .ending: "ending"
        case nil: "nothing"
        }
    }

    /// Answers to one question after the other, and what is asked each time.
    struct Row: Sendable, CustomTestStringConvertible {
        let what: String
        var known = QuestionsTests.tagged
        var stored = QuestionsTests.half
        var isOfCopy = false
        var answers: [Questions.Answer]
        let asked: [String]
        var areAnswered = false

        var testDescription: String { what }
    }

    static let rows: [Row] = [
        Row(
            what: "nothing is there",
            known: RemoteVersion(),
            stored: 0,
            answers: [.complete],
            asked: ["whole", "nothing"],
            areAnswered: true
        ),
        Row(
            what: "a strong tag lets the rest come at once",
            answers: [.complete],
            asked: ["rest", "nothing"],
            areAnswered: true
        ),
        Row(
            what: "without one, two samples go before",
            known: bare,
            answers: [.equal, .equal, .complete],
            asked: ["sample", "sample", "overlap", "nothing"],
            areAnswered: true
        ),
        Row(
            what: "a sample that differs ends the proof",
            known: bare,
            answers: [.equal, .again(.whole, RemoteVersion()), .complete],
            asked: ["sample", "sample", "whole", "nothing"],
            areAnswered: true
        ),
        Row(
            what: "a copy is proven, whatever tag it has",
            isOfCopy: true,
            answers: [.equal, .equal, .complete],
            asked: ["sample", "sample", "overlap", "nothing"],
            areAnswered: true
        ),
        Row(
            what: "a copy that an answer has not proven is proven by the next",
            isOfCopy: true,
            answers: [.equal, .equal, .stored],
            asked: ["sample", "sample", "overlap", "overlap"]
        ),
        Row(
            what: "a server that sends the question back is left after six times",
            answers: Array(repeating: .again(.whole, tagged), count: 6),
            asked: ["rest", "whole", "whole", "whole", "whole", "whole", "nothing"]
        ),
        Row(
            what: "six answers that bring nothing are enough",
            answers: Array(repeating: .stored, count: 6),
            asked: Array(repeating: "rest", count: 6) + ["nothing"]
        ),
    ]

    @Test(arguments: rows) func `each answer leads to the next question`(row: Row) {
        var fetch = Self.fetch(row.known, stored: row.stored)
        if row.isOfCopy { fetch.content.isCopy() }
        var questions = Questions(fetch)
        var generator = SeededGenerator(seed: 1)
        var asked: [String] = []
        for answer in row.answers {
            asked.append(Self.word(questions.next(&fetch, using: &generator)))
            questions.take(answer, &fetch)
        }
        asked.append(Self.word(questions.next(&fetch, using: &generator)))
        #expect(asked == row.asked)
        #expect(questions.areAnswered == row.areAnswered)
    }

    @Test func `whoever brings a little with each answer may go on`() {
        var fetch = Self.fetch()
        var questions = Questions(fetch)
        var generator = SeededGenerator(seed: 1)
        for step in 1...20 as ClosedRange<Int64> {
            let ask = questions.next(&fetch, using: &generator)
            #expect(Self.word(ask) == "rest")
            if let more = ByteRange(from: Self.half, to: Self.half + step) {
                fetch.content.store(more, from: 0, coversAll: false)
            }
            let isMore = questions.take(.stored, &fetch)
            #expect(isMore)
        }
        #expect(!questions.areAnswered)
    }

    @Test func `an overlap that would prove nothing has all asked for`() {
        var fetch = Self.fetch(Self.bare)
        var questions = Questions(fetch)
        #expect(questions.overlap(in: fetch)?.end == Self.half)
        questions.askForAll()
        #expect(questions.overlap(in: fetch) == nil)
        var generator = SeededGenerator(seed: 1)
        let ask = questions.next(&fetch, using: &generator)
        #expect(ask == .whole)
    }
}
