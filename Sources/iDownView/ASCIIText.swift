// SPDX-License-Identifier: Apache-2.0

/// A text for a terminal that shows nothing but ASCII, as many cells wide as before.
package struct ASCIIText: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// Signs of the live list that have a likeness.
    private static let likenesses: [Character: Character] = [
        "✓": "+", "✗": "x", "↑": "^", "↓": "v", "·": ".", "…": ".", "│": "|", "─": "-", "┌": "+",
        "┐": "+", "└": "+", "┘": "+", "→": ">", "█": "#", "▒": "+",
    ]

    /// - Parameter text: one line.
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
