// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownSettings

struct SpellingTests {
    private let verbs = [
        "get", "add", "list", "ls", "pause", "pause-all", "remove", "rm", "resume",
    ]

    @Test(arguments: [
        ("lst", "list"), ("lsit", "list"), ("lists", "list"), ("puase", "pause"),
        ("remvoe", "remove"), ("resum", "resume"), ("gte", "get"), ("addd", "add"),
        ("paus-all", "pause-all"), ("rem", "rm"),
    ])
    func `a word with a slip or two finds the one that was meant`(typed: String, meant: String) {
        #expect(Spelling.nearest(to: typed, among: verbs) == meant)
    }

    @Test(arguments: ["explode", "x", "7", "", "zzz"])
    func `a word that is like no other finds none`(typed: String) {
        #expect(Spelling.nearest(to: typed, among: verbs) == nil)
    }
}
