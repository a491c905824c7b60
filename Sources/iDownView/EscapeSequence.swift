// SPDX-License-Identifier: Apache-2.0

/// What follows an Esc at once: the answer of a terminal, or a key that ncurses does not know.
///
/// It is read to its end, so that none of its letters is taken for a command: ECMA-48, sections 5.3
/// to 5.6; xterm also ends a string with BEL.
package struct EscapeSequence: Hashable, Sendable {
    private enum Part: Hashable {
        /// The Esc alone, or an Esc in a string, which `\` ends.
        case escape
        /// After `ESC [` or `ESC O`: parameters, up to a final character.
        case parameters
        /// After `ESC P`, `ESC ]` and the like.
        case string
    }

    private var part = Part.escape

    package init() {}

    /// Whether nothing has followed the Esc yet.
    package var isAlone: Bool { part == .escape }

    /// Takes the next character; returns whether the sequence ends with it.
    package mutating func ends(with next: Unicode.Scalar) -> Bool {
        switch (part, next) {
        case (_, "\u{1B}"): part = .escape
        // CAN and SUB cancel a sequence.
        case (_, "\u{18}"), (_, "\u{1A}"), (.string, "\u{07}"): return true
        case (.string, _), (.parameters, "\u{20}"..."\u{3F}"): break
        case (.escape, "["), (.escape, "O"): part = .parameters
        case (.escape, "P"), (.escape, "X"), (.escape, "]"), (.escape, "^"), (.escape, "_"):
            part = .string
        // The final character; the `\` of a string's end; a key that was pressed with Alt.
        case (.parameters, _), (.escape, _): return true
        }
        return false
    }
}
