// SPDX-License-Identifier: Apache-2.0

/// A text for a screen that gives cells to each scalar by itself, as ncurses does.
///
/// Such a screen counts every part of a joined emoji, or of a syllable, where ``CellText`` counts
/// what becomes of them.
package struct ScalarCells: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// - Parameters:
    ///   - text: one line without control characters.
    ///   - limit: how many cells there are; what does not fit is replaced by `…`.
    ///   - width: how many cells the screen gives a scalar.
    package init(_ text: String, limit: Int, width: (Unicode.Scalar) -> Int) {
        // Most of what is shown.
        guard text.utf8.count > limit || !text.utf8.allSatisfy({ $0 < 0x80 }) else {
            description = text
            return
        }
        let scalars = Self.withoutJoiners(text.unicodeScalars, width)
        // So much of it leaves room for the sign that something is missing.
        var end = scalars.startIndex
        var used = 0
        for index in scalars.indices {
            used += width(scalars[index])
            if used < limit { end = scalars.index(after: index) }
            guard used <= limit else {
                description = limit > 0 ? String(scalars[..<end]) + "…" : ""
                return
            }
        }
        description = String(scalars)
    }

    /// Between two wide signs a joiner makes one of both where the terminal knows that one; without
    /// it there are two for everybody.
    private static func withoutJoiners(
        _ scalars: String.UnicodeScalarView,
        _ width: (Unicode.Scalar) -> Int
    ) -> String.UnicodeScalarView {
        var kept = String.UnicodeScalarView()
        var waits = false
        for scalar in scalars {
            if waits, width(scalar) != 2 { kept.append(joiner) }
            waits = scalar == joiner
            if !waits { kept.append(scalar) }
        }
        if waits { kept.append(joiner) }
        return kept
    }

    private static let joiner: Unicode.Scalar = "\u{200D}"
}
