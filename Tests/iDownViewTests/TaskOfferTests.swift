// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting
import iDownView

struct TaskOfferTests {
    private let offers = [
        TaskOffer(word: "1", name: "a: b"), TaskOffer(word: "12", name: "c"),
        TaskOffer(word: "all", name: ""),
    ]

    @Test func `each shell gets words and names in its own format`() {
        #expect(TaskOffer.texts(offers, typed: "", for: .zsh) == ["1:a\\: b", "12:c", "all"])
        #expect(TaskOffer.texts(offers, typed: "1", for: .fish) == ["1\ta: b", "12\tc"])
        #expect(TaskOffer.texts(offers, typed: "1", for: .bash) == [#"1  a\:\ b"#, "12  c"])
        // With one choice left, bash gets only the word to insert.
        #expect(TaskOffer.texts(offers, typed: "12", for: .bash) == ["12"])
        #expect(TaskOffer.texts(offers, typed: "x", for: .bash) == [])
    }

    @Test func `bash shows every name unchanged`() async throws {
        let name = #"a$(touch x)`id`'"\ {b,c} ~ *?[é] $HOME & ; | < > ! #"#
        let offers = ["1", "12"].map { TaskOffer(word: $0, name: name) }
        let offered = TaskOffer.texts(offers, typed: "", for: .bash).joined(separator: "\n")
        let script = #"IFS=$'\n'; compgen -W "$(cat)" -- 1"#
        let completed = try await ChildProcess.run("bash", ["-c", script], input: offered)
        let short = CellText(name).cut(to: 50).description
        #expect(completed.standardOutput == "1  \(short)\n12  \(short)", "\(completed)")
    }
}
