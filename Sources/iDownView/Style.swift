// SPDX-License-Identifier: Apache-2.0

/// Whether text has colours on the terminal.
///
/// Only the basic colours are used, since light and dark themes make them readable (ECMA-48, SGR).
package struct Style: Hashable, Sendable {
    package let isColored: Bool

    package init(isColored: Bool) { self.isColored = isColored }

    package static let plain = Style(isColored: false)

    /// The look of a text.
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

    /// Returns the text in an ink; it must hold no control characters.
    package func paint(_ text: String, _ ink: Ink) -> String {
        guard isColored, let code = ink.code, !text.isEmpty else { return text }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}
