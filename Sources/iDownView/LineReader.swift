// SPDX-License-Identifier: Apache-2.0

/// The reader of a line with values that servers and other programs have chosen.
package enum LineReader: Sendable {
    /// A person at a terminal, where some characters act as commands and others reverse the text.
    case terminal
    /// A program, which needs names unchanged.
    case program

    /// Returns the value with U+FFFD in place of each character that the line must not contain.
    ///
    /// For programs these are only the control characters, because some of them end a line.
    package func line(_ value: String) -> String {
        switch self {
        case .terminal: return CellText(value).description
        case .program:
            guard value.unicodeScalars.contains(where: Self.isControl) else { return value }
            var scalars = String.UnicodeScalarView()
            for scalar in value.unicodeScalars {
                scalars.append(Self.isControl(scalar) ? "\u{FFFD}" : scalar)
            }
            return String(scalars)
        }
    }

    /// Whether the scalar is in Unicode's category Cc: C0, DEL and C1.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    }
}
