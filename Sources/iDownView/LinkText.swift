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
    /// The line of each link, counted from 1.
    package private(set) var lines: [Int] = []
    /// The paths of metalinks of this machine.
    package private(set) var metalinks: [String] = []
    /// What is no link, and where it stands.
    package private(set) var mistakes: [Mistake] = []
    /// The paths of other files of this machine, by the line that names one and nothing else; each
    /// is a mistake, unless it is replaced by the links of its list.
    package private(set) var files: [Int: String] = [:]

    private static let schemes: Set<String> = ["http", "https", "ftp", "ftps", "sftp"]

    /// Reads a text.
    ///
    /// Lines that begin with `#` are comments, as in lists of links. A line that begins with `/` is a
    /// path, which may have blanks.
    package init(_ text: String) {
        var known: Set<String> = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (place, line) in lines.enumerated() where !line.hasPrefix("#") {
            let words =
                line.hasPrefix("/") ? [line] : line.split(whereSeparator: \.isWhitespace)
            for word in words {
                let word = String(word)
                let path = Self.path(word)
                if let path, Self.isMetalink(path) {
                    metalinks.append(path)
                } else if let link = Self.link(word) {
                    guard known.insert(link).inserted else { continue }
                    links.append(link)
                    self.lines.append(place + 1)
                } else {
                    let shown = CellText(ShownURL(word).description).cut(to: 60)
                    mistakes.append(Mistake(line: place + 1, word: shown.description))
                    if let path, words.count == 1 { files[place + 1] = path }
                }
            }
        }
    }

    /// How many downloads there are at least: a metalink may bring several.
    package var count: Int { links.count + metalinks.count }

    private static func link(_ word: String) -> String? {
        guard let parts = URLText(word) else { return URLText.completed(word) }
        return schemes.contains(parts.scheme) ? word : nil
    }

    /// The path of a file of this machine.
    private static func path(_ word: String) -> String? {
        if word.hasPrefix("/") { return word }
        guard word.hasPrefix("file:///") else { return nil }
        return URLText.percentDecoded(word.dropFirst("file://".count))
    }

    private static func isMetalink(_ path: String) -> Bool {
        let name = path.lowercased()
        return name.hasSuffix(".meta4") || name.hasSuffix(".metalink")
    }
}
