// SPDX-License-Identifier: Apache-2.0

/// The lines at the bottom of a terminal that are redrawn with every change, and the finished lines
/// above them that stay.
///
/// Each line for ``update(lasting:live:)`` must be at least one cell narrower than the terminal,
/// and may contain no control characters except those of ``Style``.
package struct LiveLines: Sendable {
    /// The number of live lines on the terminal.
    private var drawn = 0

    package init() {}

    /// Whether no live line is on the terminal, so that other text can be written there.
    package var isEmpty: Bool { drawn == 0 }

    /// Returns the text that replaces the live lines on the terminal.
    ///
    /// The text moves the cursor up and erases with ECMA-48's CUU, EL and ED.
    ///
    /// - Parameters:
    ///   - lasting: Lines to write above the live ones; they are never redrawn.
    ///   - live: The new live lines.
    /// - Returns: The text to write to the terminal.
    package mutating func update(lasting: [String] = [], live: [String]) -> String {
        var text = ""
        if drawn > 1 { text += "\u{1B}[\(drawn - 1)A" }
        if drawn > 0 { text += "\r" }
        let lines = lasting + live
        for (place, line) in lines.enumerated() {
            text += line + "\u{1B}[K"
            if place < lines.count - 1 { text += "\r\n" }
        }
        if live.isEmpty, !lasting.isEmpty { text += "\r\n" }
        // There are fewer lines than before, so the old ones below are erased.
        if lines.count < drawn { text += "\u{1B}[J" }
        drawn = live.count
        return text
    }

    /// Returns the text that moves the cursor below the live lines, which then stay.
    package mutating func end() -> String {
        defer { drawn = 0 }
        return drawn > 0 ? "\r\n" : ""
    }
}
