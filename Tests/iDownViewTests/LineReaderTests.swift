// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownView

@Suite struct LineReaderTests {
    /// A name with invisible characters: a soft hyphen, a direction mark and the tags of a flag.
    private let name = "Ab\u{AD}c \u{200E}\u{1F3F4}\u{E0067}\u{E0062}\u{E007F}\u{2028}.txt"

    @Test func `a program gets names unchanged`() {
        #expect(LineReader.program.line(name) == name)
        #expect(LineReader.program.line("") == "")
    }

    @Test func `no value ends its line or controls a terminal`() {
        let value = "a\nb\u{1B}[2J\u{7F}\u{9B}c\r"
        let kept = "a\u{FFFD}b\u{FFFD}[2J\u{FFFD}\u{FFFD}c\u{FFFD}"
        #expect(LineReader.program.line(value) == kept)
        #expect(LineReader.terminal.line(value) == kept)
    }

    @Test func `a terminal gets no direction marks`() {
        let shown = LineReader.terminal.line(name + "\u{202E}")
        #expect(!shown.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{200E}" })
    }
}
