// SPDX-License-Identifier: Apache-2.0

/// Colours of a terminal, or none.
///
/// Only the basic colours, which every theme, light or dark, sets to something readable (ECMA-48
/// SGR).
package struct Style: Hashable, Sendable {
    package let isColored: Bool

    package init(isColored: Bool) {
        self.isColored = isColored
    }

    package static let plain = Style(isColored: false)

    /// What a text looks like.
    package enum Ink: Hashable, Sendable {
        case plain, bold, dim, green, blue, red

        fileprivate var code: Int? {
            switch self {
            case .plain: nil
            case .bold: 1
            case .dim: 2
            case .red: 31
            case .green: 32
            case .blue: 34
            }
        }
    }

    /// The text in an ink; the text itself must hold no control characters.
    package func paint(_ text: String, _ ink: Ink) -> String {
        guard isColored, let code = ink.code, !text.isEmpty else { return text }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}
