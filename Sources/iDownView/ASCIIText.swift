// SPDX-License-Identifier: Apache-2.0

/// A text in ASCII, as many cells wide as before, for a terminal that shows nothing else.
package struct ASCIIText: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// ASCII characters that look like the signs of the live list.
    private static let likenesses: [Character: Character] = [
        "✓": "+", "✗": "x", "↑": "^", "↓": "v", "·": ".", "…": ".", "│": "|", "─": "-", "┌": "+",
        "┐": "+", "└": "+", "┘": "+", "→": ">", "█": "#", "▒": "+",
    ]

    /// - Parameter text: One line.
    package init(_ text: String) {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else {
            description = text
            return
        }
        description = text.reduce(into: "") { shown, character in
            if character.isASCII {
                shown.append(character)
            } else if let likeness = Self.likenesses[character] {
                shown.append(likeness)
            } else {
                shown += String(repeating: "?", count: character.cellWidth)
            }
        }
    }
}
