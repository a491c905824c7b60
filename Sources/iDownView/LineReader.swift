// SPDX-License-Identifier: Apache-2.0

/// Who reads a line of values that servers and other programs have chosen.
package enum LineReader: Sendable {
    /// A person, through a terminal, which obeys some characters and turns with others.
    case terminal
    /// A program, which wants names as they are.
    case program

    /// A value as it may stand in a line.
    ///
    /// - Returns: The value with U+FFFD in place of what may not stand there: for programs of
    ///   control characters alone, since one of them would end the line.
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

    /// Cc of Unicode: C0, DEL and C1.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    }
}
