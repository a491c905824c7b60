// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownView

@Suite struct HistoryTextTests {
    private static let entry = HistoryEntry(
        time: 1_000_001,
        connection: 2,
        what: "asked",
        details: ["why": .string("lead"), "first": .int64(9), "cut": .boolean(true)]
    )

    @Test func `an entry is a line`() {
        let text = HistoryText(Self.entry) { "\($0) µs" }.description
        #expect(text == "1000001 µs  #2  asked  cut=true  first=9  why=lead")
        let attempt = HistoryEntry(time: 5, connection: 0, what: "stopped", details: [:])
        #expect(HistoryText(attempt) { "\($0)" }.description == "5  -  stopped")
    }

    @Test func `a control character in a detail does not reach the terminal`() {
        let details = ["message": Value.string("a\u{1B}[31mb")]
        let entry = HistoryEntry(time: 5, connection: 0, what: "failed", details: details)
        #expect(!HistoryText(entry) { "\($0)" }.description.contains("\u{1B}"))
    }

    @Test func `an entry is a JSON object`() throws {
        let text = try JSONText.line(of: HistoryJSON(Self.entry))
        #expect(
            text == """
                {"Connection":2,"Details":{"cut":true,"first":9,"why":"lead"},"Time":1000001,\
                "What":"asked"}
                """
        )
    }
}
