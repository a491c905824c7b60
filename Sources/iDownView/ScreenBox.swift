// SPDX-License-Identifier: Apache-2.0

/// A box with lines in front of the list; it keeps which of them are shown if they do not all fit.
struct ScreenBox {
    /// The first line on the screen.
    private var top = 0
    /// How many fit, and how many there are; known from the last drawing.
    private(set) var room = 1
    private(set) var count = 1

    /// Cells; longer lines are hard to read.
    private static let widest = 96

    /// Returns how many cells a line of a box may take.
    static func width(in frame: ScreenFrame) -> Int { max(1, min(frame.width - 6, widest)) }

    mutating func move(by lines: Int) { top = max(0, min(top + lines, count - room)) }

    private mutating func fit(_ count: Int, in room: Int) {
        self.count = count
        self.room = room
        move(by: 0)
    }

    /// Scrolls as far as is needed to show a line.
    private mutating func show(_ line: Int) {
        move(by: min(0, line - top) + max(0, line - top - room + 1))
    }

    /// Tells which lines are shown; empty if all are.
    private var hint: String {
        guard count > room else { return "" }
        return " ↑ ↓ lines \(top + 1) to \(top + room) of \(count) "
    }

    /// Puts the box in front of the list.
    mutating func put(
        title: String,
        _ lines: [String],
        marked: Int? = nil,
        into frame: inout ScreenFrame
    ) {
        let texts = lines.map { CellText($0).simplified }
        fit(texts.count, in: min(texts.count, max(1, frame.lines.count - 4)))
        if let marked { show(marked) }
        let inner = min(
            max(texts.map(\.width).max() ?? 0, CellText(title).width + 2, CellText(hint).width),
            Self.width(in: frame)
        )
        let column = max(0, (frame.width - inner - 4) / 2)
        var line = max(1, (frame.lines.count - room - 2) / 2)
        func edge(_ left: String, _ name: String, _ right: String) {
            let name = CellText(name).simplified.cut(to: inner + 2)
            let rest = String(repeating: "─", count: inner + 2 - name.width)
            let text = CellText(left + name.description + rest + right)
            frame.put(text, line: line, column: column)
            line += 1
        }
        edge("┌", " \(title) ", "┐")
        for place in top..<(top + room) {
            frame.blank(line: line, column: column, width: inner + 4)
            frame.put(CellText("│"), line: line, column: column)
            frame.put(
                CellText(texts[place].padded(to: inner)),
                line: line,
                column: column + 2,
                isReversed: place == marked
            )
            frame.put(CellText("│"), line: line, column: column + inner + 3)
            line += 1
        }
        edge("└", hint, "┘")
    }
}
