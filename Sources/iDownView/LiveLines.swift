// SPDX-License-Identifier: Apache-2.0

/// The lines at the end of a terminal's scroll that are drawn anew as things change, and the ones
/// above them that stay.
///
/// What is given to ``update(lasting:live:)`` must be lines that fit: at most one cell less than the
/// terminal is wide, no control characters but those of ``Style``.
package struct LiveLines: Sendable {
    private var drawn = 0

    package init() {}

    /// Whether something stands there that the next line of somebody else would meet.
    package var isEmpty: Bool { drawn == 0 }

    /// The text to write: `lasting` lines go above the `live` ones and are never touched again.
    ///
    /// Cursor up and erase to the end of the line are ECMA-48 CUU and EL.
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
        // Fewer lines than before: what is left of the old ones goes.
        if lines.count < drawn { text += "\u{1B}[J" }
        drawn = live.count
        return text
    }

    /// The text that leaves the last lines where they stand.
    package mutating func end() -> String {
        defer { drawn = 0 }
        return drawn > 0 ? "\r\n" : ""
    }
}
