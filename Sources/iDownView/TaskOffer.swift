// SPDX-License-Identifier: Apache-2.0

/// A word that a shell offers to complete, with what it stands for.
package struct TaskOffer: Hashable, Sendable {
    /// The shells, each with a form of its own for words that are explained.
    package enum Shell: Hashable, Sendable {
        case bash, zsh, fish
    }

    package let word: String
    /// Empty for a word that explains itself.
    package let name: String

    package init(word: String, name: String) {
        self.word = word
        self.name = name
    }

    /// The texts for a shell.
    ///
    /// bash knows no explanations: there the name stands behind the word as long as there is a
    /// choice, since what the choices have in common is all that is filled in then.
    package static func texts(_ offers: [TaskOffer], typed: String, for shell: Shell) -> [String] {
        let fitting = offers.filter { $0.word.hasPrefix(typed) }
        return fitting.map { offer in
            let name = CellText(offer.name).cut(to: longestName).description
            guard !name.isEmpty else { return offer.word }
            return switch shell {
            case .bash: fitting.count == 1 ? offer.word : "\(offer.word)  \(quoted(name))"
            case .zsh: "\(offer.word):\(name.replacing(":", with: "\\:"))"
            case .fish: "\(offer.word)\t\(name)"
            }
        }
    }

    private static let longestName = 50

    /// A text that bash's `compgen -W` makes the same again: it expands each word as it does those
    /// of a command, `$(…)` included (bash(1), "Programmable Completion").
    private static func quoted(_ text: String) -> String {
        var quoted = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar.isASCII, !scalar.properties.isAlphabetic, !("0"..."9").contains(scalar) {
                quoted.append("\\")
            }
            quoted.append(scalar)
        }
        return String(quoted)
    }
}
