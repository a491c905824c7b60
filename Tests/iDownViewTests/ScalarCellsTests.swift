// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownView

struct ScalarCellsTests {
    /// As glibc's wcwidth(3) has it, as far as these tests need it.
    private func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0x0300...0x036F, 0x200D, 0xFE0F: 0
        case 0x3000...0x9FFF, 0x1F300...0x1FAFF: 2
        default: 1
        }
    }

    @Test(arguments: [
        ("plain.iso", 9, "plain.iso"),
        ("plain.iso", 8, "plain.i…"),
        ("", 3, ""),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("日本語", 0, ""),
        ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
        ("👨‍👩‍👧‍👦", 8, "👨👩👧👦"),
        ("👨‍👩‍👧‍👦.txt", 8, "👨👩👧…"),
        ("👍🏽", 2, "…"),
        ("👩‍⚕️", 3, "👩‍⚕️"),
        ("a\u{200D}", 1, "a\u{200D}"),
        ("  ", 1, "…"),
    ])
    func `each scalar has cells of its own`(text: String, limit: Int, shown: String) {
        #expect(ScalarCells(text, limit: limit, width: width).description == shown)
    }

    @Test func `no column of the live list reaches into the next`() {
        var task = TaskProperties.running
        task.fileName = "👨‍👩‍👧‍👦 " + String(repeating: "👍🏽", count: 40)
        var screen = ListScreen()
        screen.list.load([task])
        let frame = screen.frame(width: 80, height: 24) { _ in "" }
        for line in frame.lines {
            let spans = line.filter { $0.text.contains { $0 != " " } }
            for (span, next) in zip(spans, spans.dropFirst()) {
                let shown = ScalarCells(span.text, limit: span.cells, width: width).description
                let taken = shown.unicodeScalars.reduce(0) { $0 + width($1) }
                #expect(span.column + taken < next.column, "\(shown)")
            }
        }
    }
}
