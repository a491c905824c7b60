// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

@Suite struct CellTextTests {
    @Test(arguments: [
        ("plain.iso", 9),
        ("Grüße.txt", 9),
        ("e\u{301}", 1),
        ("日本語.zip", 10),
        ("한글", 4),
        ("ﾊﾝｶｸ", 4),
        ("ＡＢ", 4),
        ("🎉.png", 6),
        ("👩‍💻", 2),
        ("🇩🇪", 2),
        ("❤️", 2),
        ("1️⃣", 2),
        ("👍🏽", 2),
        ("a🏽", 3),
        ("कि", 2),
        ("க\u{BBE}", 2),
        ("กำ", 2),
        ("क्षि", 3),
        ("\u{1112}\u{1161}\u{11AB}", 2),
        ("か\u{3099}", 2),
        ("", 0),
    ])
    func `a text is as wide as a terminal shows it`(text: String, width: Int) {
        #expect(CellText(text).width == width)
    }

    @Test(arguments: [
        ("plain.iso", "plain.iso", 9),
        ("日本語 e\u{301}", "日本語 e\u{301}", 8),
        ("🎉.png", "🎉.png", 6),
        ("👨‍👩‍👧‍👦 family", "👨 family", 9),
        ("👩🏽‍💻👍🏽", "👩👍", 4),
        ("🇩🇪-🇯🇵🇺", "DE-JPU", 6),
        ("❤️ ❤️‍🔥", "❤ ❤", 3),
        ("1️⃣#️⃣", "1#", 2),
        ("🏳️‍🌈👩‍⚕️⌚︎", "🏳👩⌚", 5),
        ("क्षि", "क्षि", 3),
        ("a\u{200D}b", "a\u{200D}b", 2),
    ])
    func `a joined emoji becomes what all terminals agree upon`(
        text: String,
        shown: String,
        width: Int
    ) {
        let simplified = CellText(text).simplified
        #expect(simplified.description == shown)
        #expect(simplified.width == width)
        // As ncurses counts: each scalar by itself.
        let parts = simplified.description.unicodeScalars.map { CellText(String($0)).width }
        #expect(parts.reduce(0, +) == width)
        #expect(simplified.width <= CellText(text).width)
    }

    @Test(arguments: [
        ("\u{1B}[31mred", "\u{FFFD}[31mred"),
        ("a\nb\rc\td", "a\u{FFFD}b\u{FFFD}c\u{FFFD}d"),
        ("\u{9B}2J", "\u{FFFD}2J"),
        ("gpj.\u{202E}exe", "gpj.\u{FFFD}exe"),
        ("a\u{2028}b", "a\u{FFFD}b"),
        ("\u{7F}\0", "\u{FFFD}\u{FFFD}"),
    ])
    func `nothing that commands a terminal is shown`(text: String, shown: String) {
        #expect(CellText(text).description == shown)
    }

    @Test func `every scalar that is shown is no control character`() {
        for value in (0...0xFFFF).compactMap(Unicode.Scalar.init(_:) as (Int) -> Unicode.Scalar?) {
            let shown = CellText(String(Character(value))).description.unicodeScalars
            #expect(shown.allSatisfy { $0.properties.generalCategory != .control }, "\(value)")
        }
    }

    @Test(arguments: [
        ("plain.iso", 9, "plain.iso"),
        ("plain.iso", 8, "plain.i…"),
        ("plain.iso", 1, "…"),
        ("plain.iso", 0, ""),
        ("plain.iso", -1, ""),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
    ])
    func `what does not fit is cut between characters`(text: String, cells: Int, shown: String) {
        let cut = CellText(text).cut(to: cells)
        #expect(cut.description == shown)
        #expect(cut.width <= max(0, cells))
    }

    @Test(arguments: [
        ("plain.iso", 9, "plain.iso"),
        ("plain.iso", 8, "…ain.iso"),
        ("plain.iso", 1, "…"),
        ("plain.iso", 0, ""),
        ("plain.iso", -1, ""),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "…本語"),
        ("日本語", 4, "…語"),
        ("a\tbé", 3, "…bé"),
    ])
    func `of what does not fit the end can be kept`(text: String, cells: Int, shown: String) {
        let end = CellText(text).end(within: cells)
        #expect(end.description == shown)
        #expect(end.width <= max(0, cells))
    }

    @Test(arguments: [
        ("plain.iso", 9, ["plain.iso"]),
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 8, ["one two", "three"]),
        ("one two three", 6, ["one", "two", "three"]),
        ("one  two", 4, ["one ", "two"]),
        ("https://a/bcdef", 6, ["https:", "//a/bc", "def"]),
        ("see https://a/b", 9, ["see", "https://a", "/b"]),
        ("日本語", 5, ["日本", "語"]),
        ("日本", 1, ["日", "本"]),
        ("    ", 3, ["   ", " "]),
        ("", 3, [""]),
        ("ab", 0, ["ab"]),
    ])
    func `what does not fit goes on in the next line`(text: String, cells: Int, lines: [String]) {
        #expect(CellText(text).wrapped(to: cells).map(\.description) == lines)
    }

    @Test func `padding counts cells`() {
        #expect(CellText("日本").padded(to: 6) == "日本  ")
        #expect(CellText("日本").paddedLeft(to: 6) == "  日本")
        #expect(CellText("日本語").padded(to: 4) == "日… ")
    }
}
