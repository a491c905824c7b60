// SPDX-License-Identifier: Apache-2.0

/// The result of one check of `idown doctor`: what was found, and what to do about it.
package struct Finding: Hashable, Sendable, Encodable {
    /// How serious the result is.
    package enum Grade: String, Hashable, Sendable, Encodable {
        /// The check passed.
        case fine
        /// idown works, but not as well as it could.
        case note
        /// idown does not work, or does not work safely.
        case wrong
    }

    /// What was checked.
    package let what: String
    package let grade: Grade
    /// What was found.
    package let text: String
    /// What the user can do, with the command for it; empty if the check passed.
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

    /// Returns the lines for the terminal: the result and, below it, the advice.
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

    /// Returns the lines of a short answer: one for all passed checks, then each problem.
    ///
    /// - Parameters:
    ///   - findings: All results.
    ///   - names: The checks whose texts the first line shows; the others are only counted.
    ///   - style: The colors, if any.
    /// - Returns: The lines.
    package static func summary(
        of findings: [Finding],
        telling names: [String],
        style: Style
    ) -> [String] {
        let fine = findings.filter { $0.grade == .fine }
        let told = names.compactMap { name in fine.first { $0.what == name }?.text }
        let first = Finding(
            fine.count == 1 ? "1 check" : "\(fine.count) checks",
            .fine,
            told.isEmpty ? "passed" : "passed: " + told.joined(separator: ", ")
        )
        let others = findings.filter { $0.grade != .fine }
        return ((fine.isEmpty ? [] : [first]) + others).flatMap { $0.lines(style: style) }
    }
}
