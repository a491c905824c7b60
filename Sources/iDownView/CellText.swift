// SPDX-License-Identifier: Apache-2.0

/// A text as a terminal may show it: one line, no control characters, measured in cells.
///
/// Names come from servers: an escape sequence in one of them must never reach the terminal, and
/// nothing may turn the direction of what stands beside it.
package struct CellText: Hashable, Sendable, CustomStringConvertible {
    /// The text, with U+FFFD for each character that may not be shown.
    package let description: String
    /// How many cells it takes.
    package let width: Int

    package init(_ text: String) {
        // Most of what is shown, and lists are long.
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            description = text
            width = text.utf8.count
            return
        }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            scalars.append(scalar.isShown ? scalar : "\u{FFFD}")
        }
        description = String(scalars)
        width = description.reduce(0) { $0 + $1.cellWidth }
    }

    private init(shown text: Substring, width: Int) {
        description = String(text)
        self.width = width
    }

    /// The text for a screen of columns, on which all terminals give it the same ``width``.
    ///
    /// An emoji that is joined of several becomes its first sign, a flag becomes two letters.
    package var simplified: CellText {
        guard !description.utf8.allSatisfy({ $0 < 0x80 }) else { return self }
        return CellText(description.reduce(into: "") { $0 += $1.simplified })
    }

    /// The text in at most some cells; what does not fit is replaced by `…`.
    package func cut(to limit: Int) -> CellText {
        guard width > limit else { return self }
        guard limit > 0 else { return CellText("") }
        let bytes = description.utf8
        if bytes.count == width, bytes.allSatisfy({ $0 < 0x80 }) {
            // A cell a byte.
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

    /// The end of the text in at most some cells; what does not fit before it is replaced by `…`.
    package func end(within limit: Int) -> CellText {
        guard width > limit else { return self }
        guard limit > 0 else { return CellText("") }
        var room = limit - 1
        var start = description.endIndex
        // Back from the end: what was pasted may be long, and only its end is looked at.
        while start > description.startIndex {
            let place = description.index(before: start)
            room -= description[place].cellWidth
            guard room >= 0 else { break }
            start = place
        }
        return CellText("…" + String(description[start...]))
    }

    /// The text in lines of at most some cells: broken at a blank where there is one, else between
    /// two characters.
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
                // One character goes into every line, also where it is too wide.
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

    /// The text in exactly some cells, blanks behind it.
    package func padded(to cells: Int) -> String {
        let text = cut(to: cells)
        guard text.width < cells else { return text.description }
        return text.description + String(repeating: " ", count: cells - text.width)
    }

    /// The text in exactly some cells, blanks before it.
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
        // Joiners make one sign of several, in emoji and in Persian; all else of this kind is
        // invisible or changes the direction.
        case .format: self == "\u{200C}" || self == "\u{200D}"
        default: true
        }
    }
}
