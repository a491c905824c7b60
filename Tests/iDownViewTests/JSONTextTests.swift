// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

struct JSONTextTests {
    @Test func `an empty list is two brackets, and a longer one has a line per value`() throws {
        #expect(try JSONText.of([Int]()) == "[]")
        #expect(try JSONText.line(of: [Int]()) == "[]")
        #expect(try JSONText.of([1, 2]) == "[\n  1,\n  2\n]")
        #expect(try JSONText.line(of: ["\u{9B}2J\u{202E}ä\u{7F}"]) == #"["\u009b2J\u202eä\u007f"]"#)
        #expect(try JSONText.of(["a": "[\n\n]"]) == "{\n  \"a\" : \"[\\n\\n]\"\n}")
    }
}
