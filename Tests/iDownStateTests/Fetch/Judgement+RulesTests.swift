// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

/// What no combination of fields in an answer may bring about.
@Suite struct JudgementRulesTests {
    fileprivate struct Case {
        let ask: Ask
        let facts: ResponseFacts
        let known: RemoteVersion
        let otherTag: TagMeaning
        let judgement: Judgement
    }

    private static let statuses = [200, 203, 204, 206, 302, 404, 416, 503]
    private static let ranges: [ContentRange?] = [
        nil, Heads.range(3, 8, of: 8), Heads.range(0, 8, of: 8), Heads.range(3, 8, of: 9),
        Heads.range(3, 8, of: nil), .unsatisfied(total: 8), .unsatisfied(total: 3),
    ]
    private static let tags: [EntityTag?] = [nil, Heads.tag, Heads.weakTag, Heads.otherTag]
    private static let dates: [LastModified?] = [nil, Heads.date, Heads.freshDate]
    private static let lengths: [ContentLength] = [.unknown, .bytes(8), .bytes(5), .invalid]
    private static let versions = [
        Heads.known, Heads.dated, RemoteVersion(total: 8, entityTag: Heads.weakTag),
        RemoteVersion(total: 8, lastModified: Heads.freshDate), RemoteVersion(total: 8),
        RemoteVersion(),
        RemoteVersion(total: 8, entityTag: Heads.tag, lastModified: Heads.date, needsProof: true),
    ]

    /// Every head that can be put together from the fields above.
    private static let heads: [ResponseFacts] = statuses.flatMap { status in
        ranges.flatMap { range in
            tags.flatMap { tag in
                dates.flatMap { date in
                    lengths.flatMap { length in
                        [nil, "gzip"].map { encoding in
                            ResponseFacts(
                                status: status,
                                contentLength: length,
                                contentRange: range,
                                entityTag: tag,
                                lastModified: date,
                                contentEncoding: encoding,
                                location: "/there"
                            )
                        }
                    }
                }
            }
        }
    }

    /// Holds a rule against the judgement of every head, and shows the first that breaks it.
    private func expectOfEveryAnswer(
        held: Int64 = 3,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ rule: (Case) -> Bool
    ) {
        let asks: [Ask] = [
            .whole, .rest(from: held, ifRange: "\"a\""), .rest(from: held, ifRange: nil),
            .overlap(from: held, resumingAt: held + 1, to: nil),
        ]
        let onDisk = Sample.first(held)
        for ask in asks {
            for known in Self.versions {
                for facts in Self.heads {
                    // Without another tag it makes no difference what one would mean.
                    let isOther = facts.entityTag == Heads.otherTag
                    for otherTag in isOther ? TagMeaning.allCases : [.anotherFile] {
                        let judgement = facts.judge(
                            asked: ask,
                            known: known,
                            onDisk: onDisk,
                            otherTag: otherTag
                        )
                        let one = Case(
                            ask: ask,
                            facts: facts,
                            known: known,
                            otherTag: otherTag,
                            judgement: judgement
                        )
                        guard !rule(one) else { continue }
                        Issue.record("\(one)", sourceLocation: sourceLocation)
                        return
                    }
                }
            }
        }
    }

    @Test func `a body is appended only to its own version, where that ends on disk`() {
        expectOfEveryAnswer { one in
            guard case .resume(let version) = one.judgement else { return true }
            guard case .satisfied(let range, let total) = one.facts.contentRange else {
                return false
            }
            return one.facts.status == 206 && one.ask.offset == 3 && range.first == 3
                && (total ?? 8) == 8 && range.end <= 8 && one.facts.contentEncoding == nil
                && version.total == 8 && one.carriesTheStrongValidator
        }
    }

    @Test func `bytes on disk are compared only with their own version, from its start`() {
        expectOfEveryAnswer { one in
            guard case .compare = one.judgement else { return true }
            let isWhole =
                one.facts.status != 206 || one.facts.contentRange == Heads.range(0, 8, of: 8)
            return isWhole && one.carriesTheStrongValidator && one.facts.contentEncoding == nil
        }
    }

    @Test func `a proof is of a file of the same length whose date does not differ`() {
        expectOfEveryAnswer { one in
            guard case .prove(let version, from: let start) = one.judgement else { return true }
            let isWhole = one.facts.status != 206 || start == one.ask.offset
            let date = one.facts.lastModified?.field
            let isOlder =
                !one.known.needsProof && date != nil && one.known.lastModified != nil
                && date != one.known.lastModified?.field
            return isWhole && version.total == 8 && one.known.total == 8 && !isOlder
                && !version.needsProof && one.facts.contentEncoding == nil
                && (version.restsOnProof || one.carriesTheStrongValidator)
        }
    }

    @Test func `no byte on disk is kept beside another tag that means another file`() {
        expectOfEveryAnswer { one in
            guard one.otherTag == .anotherFile, one.facts.entityTag == Heads.otherTag,
                one.known.entityTag != nil, !one.known.needsProof
            else { return true }
            return switch one.judgement {
            case .begin, .askAgain, .redirect, .fail: true
            case .resume, .compare, .prove, .check, .complete: false
            }
        }
    }

    @Test func `nothing is complete without all bytes of a proven version`() {
        expectOfEveryAnswer { one in
            if case .complete = one.judgement { return false }
            return true
        }
        expectOfEveryAnswer(held: 8) { one in
            guard case .complete = one.judgement else { return true }
            return one.facts.status == 416
                && one.facts.contentRange == .unsatisfied(total: 8)
                && one.ask.offset == 8 && one.carriesTheStrongValidator
        }
    }

    @Test func `a file begins only with a body that starts at its start`() {
        expectOfEveryAnswer { one in
            guard case .begin(let version) = one.judgement else { return true }
            let isEncoded = one.facts.contentEncoding != nil
            switch one.facts.status {
            case 200, 203: return !isEncoded || (one.ask == .whole && version.total == nil)
            case 206: return one.facts.contentRange == Heads.range(0, 8, of: 8) && !isEncoded
            default: return false
            }
        }
    }

    @Test func `asking again comes to an end`() {
        expectOfEveryAnswer { one in
            guard case .askAgain(let next, _) = one.judgement else { return true }
            return one.ask.boldness > next.boldness
        }
    }
}

extension Ask {
    /// How much the question takes for granted.
    fileprivate var boldness: Int {
        switch self {
        case .rest(_, .some), .part(_, .some): 4
        case .rest(_, nil), .part(_, nil): 3
        case .overlap, .sample, .ending: 2
        case .whole: 1
        }
    }
}

extension JudgementRulesTests.Case {
    fileprivate var carriesTheStrongValidator: Bool {
        if known.needsProof { return false }
        if known.entityTag == Heads.tag { return facts.entityTag == Heads.tag }
        guard known.lastModified == Heads.date else { return false }
        return facts.lastModified?.field == Heads.date.field
    }
}
