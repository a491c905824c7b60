// SPDX-License-Identifier: Apache-2.0

/// A whole screen to draw: texts and their places.
package struct ScreenFrame: Sendable {
    /// A text of one line that begins in a column.
    package struct Span: Hashable, Sendable {
        package let column: Int
        package let text: String
        package let ink: Style.Ink
        package let isReversed: Bool
    }

    /// The lines from top to bottom, each with its texts in the order of drawing.
    package private(set) var lines: [[Span]]
    /// The place of the terminal's own cursor while the user types; otherwise nil.
    package private(set) var typing: (line: Int, column: Int)?

    let width: Int

    init(width: Int, height: Int) {
        self.width = width
        lines = Array(repeating: [], count: max(0, height))
    }

    /// Puts a text into a line; it is cut at the end of the line, or at a limit before that.
    mutating func put(
        _ text: CellText,
        line: Int,
        column: Int,
        ink: Style.Ink = .plain,
        isReversed: Bool = false,
        width limit: Int = .max
    ) {
        guard lines.indices.contains(line), column >= 0, column < width else { return }
        let text = text.simplified.cut(to: min(limit, width - column)).description
        guard !text.isEmpty else { return }
        lines[line].append(Span(column: column, text: text, ink: ink, isReversed: isReversed))
    }

    /// Covers a part of a line with blanks, for a text in front of it.
    mutating func blank(line: Int, column: Int, width cells: Int) {
        put(CellText(String(repeating: " ", count: max(0, cells))), line: line, column: column)
    }

    mutating func type(line: Int, column: Int) { typing = (line, min(column, width - 1)) }
}
