// SPDX-License-Identifier: Apache-2.0

/// A word that a shell offers as a completion, with an explanation.
package struct TaskOffer: Hashable, Sendable {
    /// The shells; each has its own format for a word with an explanation.
    package enum Shell: Hashable, Sendable {
        case bash, zsh, fish
    }

    package let word: String
    /// The name of the download; empty for a word that needs no explanation.
    package let name: String

    package init(word: String, name: String) {
        self.word = word
        self.name = name
    }

    /// Returns the completions of the typed text in a shell's format.
    ///
    /// bash has no explanations, so the name is added to the word itself while there are several
    /// choices. bash then inserts only the beginning that all choices share, which holds no name.
    package static func texts(_ offers: [TaskOffer], typed: String, for shell: Shell) -> [String] {
        let matching = offers.filter { $0.word.hasPrefix(typed) }
        return matching.map { offer in
            let name = CellText(offer.name).cut(to: longestName).description
            guard !name.isEmpty else { return offer.word }
            return switch shell {
            case .bash: matching.count == 1 ? offer.word : "\(offer.word)  \(quoted(name))"
            case .zsh: "\(offer.word):\(name.replacing(":", with: "\\:"))"
            case .fish: "\(offer.word)\t\(name)"
            }
        }
    }

    /// The most cells of a name beside its word.
    private static let longestName = 50

    /// Returns the text with backslashes, so that bash's `compgen -W` does not change or run it.
    ///
    /// `compgen -W` expands its words like those of a command, `$(…)` included (bash(1),
    /// "Programmable Completion").
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
