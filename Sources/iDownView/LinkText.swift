// SPDX-License-Identifier: Apache-2.0

/// The links of a typed, pasted or dropped text, one or more in a line.
package struct LinkText: Hashable, Sendable {
    /// A word that is no link.
    package struct Mistake: Hashable, Sendable {
        /// The line, counted from 1.
        package let line: Int
        /// The word, as it may be shown.
        package let word: String
    }

    /// The links, in order, each once.
    package private(set) var links: [String] = []
    /// The paths of metalinks of this machine.
    package private(set) var metalinks: [String] = []
    /// What is no link, and where it stands.
    package private(set) var mistakes: [Mistake] = []

    private static let schemes: Set<String> = ["http", "https", "ftp", "ftps", "sftp"]

    /// Reads a text.
    ///
    /// Lines that begin with `#` are comments, as in lists of links.
    package init(_ text: String) {
        var known: Set<String> = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (place, line) in lines.enumerated() where !line.hasPrefix("#") {
            for word in line.split(whereSeparator: \.isWhitespace) {
                let word = String(word)
                if let path = Self.metalink(word) {
                    metalinks.append(path)
                } else if let link = Self.link(word) {
                    if known.insert(link).inserted { links.append(link) }
                } else {
                    let shown = CellText(ShownURL(word).description).cut(to: 60)
                    mistakes.append(Mistake(line: place + 1, word: shown.description))
                }
            }
        }
    }

    private static func link(_ word: String) -> String? {
        guard let parts = URLText(word) else { return URLText.completed(word) }
        return schemes.contains(parts.scheme) ? word : nil
    }

    private static func metalink(_ word: String) -> String? {
        guard word.hasPrefix("file:///"),
            let path = URLText.percentDecoded(word.dropFirst("file://".count)),
            path.hasSuffix(".meta4") || path.hasSuffix(".metalink")
        else { return nil }
        return path
    }
}
