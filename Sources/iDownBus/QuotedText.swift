// SPDX-License-Identifier: Apache-2.0

/// A text from a client as an error shows it: quoted, shortened, and without control characters.
package struct QuotedText: CustomStringConvertible {
    /// The most characters: enough to recognise the text, and few enough for one line.
    private static let maximumLength = 64

    private let text: String

    /// Quotes a text.
    package init(_ text: String) { self.text = text }

    package var description: String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(Self.maximumLength) {
            scalars.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
        }
        let cut = text.unicodeScalars.count > Self.maximumLength
        return "\"\(String(scalars))\(cut ? "…" : "")\""
    }
}
