// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

/// An answer, what it was asked for, and what is to become of it.
struct JudgementRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let ask: Ask
    let facts: ResponseFacts
    var known = Heads.known
    var held: Int64 = 3
    var otherTag = TagMeaning.anotherFile
    var isOfSamePlace = true
    var keepsEncoding = false
    let verdict: Verdict

    init(
        _ description: String,
        _ ask: Ask,
        _ facts: ResponseFacts,
        known: RemoteVersion = Heads.known,
        held: Int64 = 3,
        otherTag: TagMeaning = .anotherFile,
        isOfSamePlace: Bool = true,
        keepsEncoding: Bool = false,
        _ verdict: Verdict
    ) {
        testDescription = description
        self.ask = ask
        self.facts = facts
        self.known = known
        self.held = held
        self.otherTag = otherTag
        self.isOfSamePlace = isOfSamePlace
        self.keepsEncoding = keepsEncoding
        self.verdict = verdict
    }

    var judgement: Judgement {
        facts.judge(
            asked: ask,
            known: known,
            onDisk: Sample.first(held),
            otherTag: otherTag,
            isOfSamePlace: isOfSamePlace,
            keepsEncoding: keepsEncoding
        )
    }
}
