// SPDX-License-Identifier: Apache-2.0

/// A text that is safe to show on a terminal: one line without control characters, measured in cells.
///
/// Servers choose names: an escape sequence in a name must not reach the terminal, and a name must not
/// reverse the direction of the text beside it.
package struct CellText: Hashable, Sendable, CustomStringConvertible {
    /// The text; U+FFFD replaces each character that must not be shown.
    package let description: String
    /// How many cells it takes.
    package let width: Int

    package init(_ text: String) {
        // Most texts are ASCII, and lists are long.
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            description = text
            width = text.utf8.count
            return
        }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { scalars.append(scalar.isShown ? scalar : "\u{FFFD}") }
        description = String(scalars)
        width = description.reduce(0) { $0 + $1.cellWidth }
    }

    private init(shown text: Substring, width: Int) {
        description = String(text)
        self.width = width
    }

    /// The text in a form to which all terminals give the same ``width``.
    ///
    /// An emoji of several scalars becomes the first of them, a flag becomes its two letters.
    package var simplified: CellText {
        guard !description.utf8.allSatisfy({ $0 < 0x80 }) else { return self }
        return CellText(description.reduce(into: "") { $0 += $1.simplified })
    }

    /// Returns the text in at most some cells; `…` replaces the end if it does not fit.
    package func cut(to limit: Int) -> CellText {
        guard width > limit else { return self }
        guard limit > 0 else { return CellText("") }
        let bytes = description.utf8
        if bytes.count == width, bytes.allSatisfy({ $0 < 0x80 }) {
            // Each byte takes one cell.
            let end = bytes.index(bytes.startIndex, offsetBy: limit - 1)
            return CellText(shown: description[..<end] + "…", width: limit)
        }
        var room = limit - 1
        var kept = ""
        for character in description {
            room -= character.cellWidth
            guard room >= 0 else { break }
            kept.append(character)
        }
        return CellText(kept + "…")
    }

    /// Returns the end of the text in at most some cells; `…` replaces the beginning if it does not
    /// fit.
    package func end(within limit: Int) -> CellText {
        guard width > limit else { return self }
        guard limit > 0 else { return CellText("") }
        var room = limit - 1
        var start = description.endIndex
        // From the end backwards, since a pasted text may be very long.
        while start > description.startIndex {
            let place = description.index(before: start)
            room -= description[place].cellWidth
            guard room >= 0 else { break }
            start = place
        }
        return CellText("…" + String(description[start...]))
    }

    /// Returns the text in lines of at most some cells, broken at blanks; a word that is too long is
    /// broken between two characters.
    package func wrapped(to cells: Int) -> [CellText] {
        guard width > cells, cells > 0 else { return [self] }
        var lines: [CellText] = []
        var rest = description[...]
        while true {
            var room = cells
            var end = rest.startIndex
            var blank: String.Index?
            while end < rest.endIndex {
                room -= rest[end].cellWidth
                // Every line takes a character, even one that is too wide: else there is no end.
                guard room >= 0 || end == rest.startIndex else { break }
                if rest[end] == " " { blank = end }
                end = rest.index(after: end)
            }
            guard end < rest.endIndex else { return lines + [CellText(String(rest))] }
            if rest[end] == " " { blank = end }
            let head = rest[..<(blank ?? end)]
            guard let blank, head.contains(where: { $0 != " " }) else {
                lines.append(CellText(String(rest[..<end])))
                rest = rest[end...]
                continue
            }
            lines.append(CellText(String(head)))
            rest = rest[rest.index(after: blank)...]
        }
    }

    /// Returns the text in exactly some cells, with blanks after it.
    package func padded(to cells: Int) -> String {
        let text = cut(to: cells)
        guard text.width < cells else { return text.description }
        return text.description + String(repeating: " ", count: cells - text.width)
    }

    /// Returns the text in exactly some cells, with blanks before it.
    package func paddedLeft(to cells: Int) -> String {
        let text = cut(to: cells)
        guard text.width < cells else { return text.description }
        return String(repeating: " ", count: cells - text.width) + text.description
    }
}

extension Unicode.Scalar {
    fileprivate var isShown: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
        // Emoji and Persian need joiners; the other format characters are invisible or change the
        // direction.
        case .format: self == "\u{200C}" || self == "\u{200D}"
        default: true
        }
    }
}
