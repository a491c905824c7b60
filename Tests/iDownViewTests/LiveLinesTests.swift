// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

struct LiveLinesTests {
    @Test func `new lines are drawn over the lines before them`() {
        var lines = LiveLines()
        #expect(lines.isEmpty)
        #expect(lines.update(live: ["a", "b"]) == "a\u{1B}[K\r\nb\u{1B}[K")
        #expect(lines.update(live: ["c", "d"]) == "\u{1B}[1A\rc\u{1B}[K\r\nd\u{1B}[K")
        #expect(lines.end() == "\r\n")
        #expect(lines.end() == "")
    }

    @Test func `lasting lines go above the live ones, and leftover lines are erased`() {
        var lines = LiveLines()
        _ = lines.update(live: ["a", "b", "c"])
        #expect(
            lines.update(lasting: ["done"], live: ["b"])
                == "\u{1B}[2A\rdone\u{1B}[K\r\nb\u{1B}[K\u{1B}[J"
        )
        #expect(lines.update(lasting: ["b done"], live: []) == "\rb done\u{1B}[K\r\n")
        #expect(lines.end() == "")
    }
}
