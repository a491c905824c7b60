// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

struct TaskOfferTests {
    private let offers = [
        TaskOffer(word: "1", name: "a: b"), TaskOffer(word: "12", name: "c"),
        TaskOffer(word: "all", name: ""),
    ]

    @Test func `each shell gets words and names in its own form`() {
        #expect(TaskOffer.texts(offers, typed: "", for: .zsh) == ["1:a\\: b", "12:c", "all"])
        #expect(TaskOffer.texts(offers, typed: "1", for: .fish) == ["1\ta: b", "12\tc"])
        #expect(TaskOffer.texts(offers, typed: "1", for: .bash) == ["1  a: b", "12  c"])
        // Nothing but the word itself is filled in.
        #expect(TaskOffer.texts(offers, typed: "12", for: .bash) == ["12"])
        #expect(TaskOffer.texts(offers, typed: "x", for: .bash) == [])
    }
}
