// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownView

struct TaskSelectionTests {
    private func list() -> [TaskProperties] {
        (1...10).map { number in
            var task = TaskProperties()
            task.id = "\(number)"
            task.state = number.isMultiple(of: 2) ? .failed : .completed
            return task
        }
    }

    private func ids(_ words: String...) throws -> String {
        try TaskSelection(words).tasks(of: list()).map(\.id).joined(separator: " ")
    }

    @Test func `ids, ranges, states and all select, each task once, in the list's order`() throws {
        #expect(try ids("7", "3") == "3 7")
        #expect(try ids("3-5", "4", "4-6") == "3 4 5 6")
        #expect(try ids("9-99") == "9 10")
        #expect(try ids("failed") == "2 4 6 8 10")
        #expect(try ids("all", "1") == "1 2 3 4 5 6 7 8 9 10")
        #expect(try ids("paused") == "")
        #expect(try ids("/org/idown/Manager1/task/7") == "7")
    }

    @Test func `an unknown id, or a range without any known id, is an error`() {
        #expect(throws: TaskSelection.Missing.self) { try ids("11") }
        #expect(throws: TaskSelection.Missing.self) { try ids("all", "11-12") }
    }

    @Test(arguments: ["", "x", "-1", "0", "01", "1-", "-", "1-2-3", "5-3", "Failed", "1,2", "１"])
    func `a word that is no id, range or state is an error`(word: String) {
        #expect(throws: TaskSelection.Mistake.self) { try TaskSelection([word]) }
    }

    @Test func `an error does not repeat parts that may be secret`() {
        let mistake = #expect(throws: TaskSelection.Mistake.self) {
            try TaskSelection(["https://me:geheim@example.org/a?geheim#geheim"])
        }
        let text = mistake?.description ?? ""
        #expect(text.hasPrefix("https://example.org/a selects no download;"), "\(text)")
        #expect(!text.contains("geheim"), "\(text)")
    }

    @Test func `words that are all ids, or all states, are recognized`() throws {
        #expect(try TaskSelection(["7", "8"]).plainIDs == ["7", "8"])
        #expect(try TaskSelection(["7", "8", "7"]).plainIDs == ["7", "8"])
        #expect(try TaskSelection(["7", "failed"]).plainIDs == nil)
        #expect(try TaskSelection(["paused", "failed"]).plainStates == [.paused, .failed])
        #expect(try TaskSelection(["paused", "all"]).plainStates == nil)
    }
}
