// SPDX-License-Identifier: Apache-2.0

/// One thing that was looked at to find out what is wrong, and what to do about it.
package struct Finding: Hashable, Sendable, Encodable {
    /// How bad it is.
    package enum Grade: String, Hashable, Sendable, Encodable {
        case fine
        /// It works, but not as well as it could.
        case note
        /// It does not work.
        case wrong
    }

    package let what: String
    package let grade: Grade
    /// What was found.
    package let text: String
    /// What to do; empty for what is fine.
    package let advice: String

    package init(_ what: String, _ grade: Grade, _ text: String, advice: String = "") {
        self.what = what
        self.grade = grade
        self.text = text
        self.advice = advice
    }

    private enum CodingKeys: String, CodingKey {
        case what = "What"
        case grade = "Grade"
        case text = "Text"
        case advice = "Advice"
    }

    /// The lines for people: what was found, and what to do below it.
    package func lines(style: Style) -> [String] {
        let (sign, ink): (String, Style.Ink) =
            switch grade {
            case .fine: ("ok   ", .green)
            case .note: ("note ", .blue)
            case .wrong: ("WRONG", .red)
            }
        let what = CellText(what).padded(to: Self.whatCells)
        let first = "\(style.paint(sign, ink))  \(what)  \(CellText(text))"
        return advice.isEmpty ? [first] : [first, "       → \(CellText(advice))"]
    }

    private static let whatCells = 16
}
