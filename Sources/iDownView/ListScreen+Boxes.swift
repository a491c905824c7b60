// SPDX-License-Identifier: Apache-2.0

import iDownBus

extension ListScreen {
    /// A box in front of the list.
    func putBox(
        title: String,
        _ lines: [String],
        marked: Int? = nil,
        into frame: inout ScreenFrame
    ) {
        let texts = lines.map { CellText($0) }
        let inner = min(
            max(texts.map(\.width).max() ?? 0, CellText(title).width + 2),
            max(1, frame.width - 6)
        )
        let room = max(1, frame.lines.count - 4)
        let shown = texts.prefix(room)
        let column = max(0, (frame.width - inner - 4) / 2)
        var line = max(1, (frame.lines.count - shown.count - 2) / 2)
        func edge(_ text: String) {
            frame.put(CellText(text), line: line, column: column)
            line += 1
        }
        let name = CellText(" \(title) ").cut(to: inner + 2)
        edge("┌" + name.description + String(repeating: "─", count: inner + 2 - name.width) + "┐")
        for (place, text) in shown.enumerated() {
            frame.blank(line: line, column: column, width: inner + 4)
            frame.put(CellText("│"), line: line, column: column)
            frame.put(
                CellText(text.padded(to: inner)),
                line: line,
                column: column + 2,
                isReversed: place == marked
            )
            frame.put(CellText("│"), line: line, column: column + inner + 3)
            line += 1
        }
        edge("└" + String(repeating: "─", count: inner + 2) + "┘")
    }

    func putMenu(of task: TaskProperties, _ place: Int, into frame: inout ScreenFrame) {
        let entries = Self.menu(of: task)
        let name = TaskSummary(task).shortName.cut(to: 40).description
        putBox(
            title: name,
            entries.enumerated().map { "\($0.offset + 1)  \($0.element.title)" },
            marked: min(place, entries.count - 1),
            into: &frame
        )
    }
}
