// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The links of a typed, pasted or dropped text, one or more in a line.
///
/// Options of a link may follow in indented lines, as in the lists of ``DownloadList``. They belong
/// to the line above, which must hold this link alone or, with tabs between them, the link and its
/// mirrors.
package struct LinkText: Hashable, Sendable {
    /// A word that is not a link, or an option that cannot be read.
    package struct Mistake: Hashable, Sendable {
        /// The line, counted from 1.
        package let line: Int
        /// The word, or the option with its `=` and without its value, as it may be shown.
        package let word: String
        /// Why the option cannot be read, in English and with its name: "priority must be a whole
        /// number"; nil for a word that is no link.
        package let reason: String?

        /// What is wrong, in the user's language.
        package var text: String {
            let line = ["line": "\(line)"]
            guard let reason else {
                return translated(
                    "Line {line} is no link: {word}",
                    line.merging(["word": word]) { $1 }
                )
            }
            // The reasons have no translations.
            guard Wording.current.isEnglish else {
                return translated(
                    "Line {line}: the value of {option} cannot be used",
                    line.merging(["option": word]) { $1 }
                )
            }
            return translated("Line {line}: {text}", line.merging(["text": reason]) { $1 })
        }
    }

    /// The links, in order, each once and once more for each other folder or name in its options.
    package private(set) var links: [String] = []
    /// The line of each link, counted from 1.
    package private(set) var lines: [Int] = []
    /// The links with options of their own, by the place of the link.
    private var entries: [Int: DownloadList.Entry] = [:]
    /// The paths of metalink files on this machine.
    package private(set) var metalinks: [String] = []
    /// The words and options that cannot be read, with their lines.
    package private(set) var mistakes: [Mistake] = []
    /// The paths of other files on this machine, by line, if the line holds nothing else.
    ///
    /// Each is a mistake until the caller replaces it with the links of the list in the file. One
    /// with options below is left out, because they would become those of the list's last link.
    package private(set) var files: [Int: String] = [:]

    private static let schemes: Set<String> = ["http", "https", "ftp", "ftps", "sftp"]

    /// Reads a text.
    ///
    /// Lines that begin with `#` are comments, as in lists of links. A line that begins with `/` is a
    /// path, which may have blanks. A link must not have blanks: what follows them in its line is a
    /// mistake if it ends as names of files do.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - leavesWords: Whether words around links are left out instead of being mistakes, so that
    ///     a sentence with a link can be pasted. Words that may be meant as links stay.
    package init(_ text: String, leavingWords leavesWords: Bool = false) {
        var known: Set<String> = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let hasLinks = leavesWords && text.contains("://")
        var mirrors: [Int: [String]] = [:]
        var options: [Int: [Int]] = [:]
        // The link of the last line; nil if it holds none, several or something else.
        var above: Int?
        for (place, line) in lines.enumerated() where !Self.isEmpty(line) {
            if Self.isOption(line), above != nil || Self.isKnownOption(line) {
                if let above {
                    options[above, default: []].append(place)
                } else {
                    let name = Self.optionName(line)
                    let reason = "\(name) must stand below one link"
                    mistakes.append(Mistake(line: place + 1, word: name + "=", reason: reason))
                }
                continue
            }
            above = nil
            let hasOptions = lines[(place + 1)...].first { !Self.isEmpty($0) }.map(Self.isOption)
            var words = line.hasPrefix("/") ? [line] : line.split(whereSeparator: \.isWhitespace)
            let isAlone = words.count == 1
            if hasLinks { words = Self.linksOfSentence(words.flatMap(Self.apart)) }
            let beginsWithLink = words.first?.contains("://") == true
            var found: [String] = []
            for word in words {
                let isEnd = beginsWithLink && Self.isEndOfName(word)
                let word = String(word)
                let path = Self.path(word)
                if let path, Self.isMetalink(path) {
                    metalinks.append(path)
                } else if !isEnd, let link = Self.link(word) {
                    found.append(link)
                } else {
                    let shown = CellText(ShownURL(word).description).cut(to: 60)
                    mistakes.append(Mistake(line: place + 1, word: shown.description, reason: nil))
                    if let path, isAlone, hasOptions != true { files[place + 1] = path }
                }
            }
            let isOne = found.count == 1 || Self.isRow(line, of: words)
            if hasOptions == true, isOne, found.count == words.count, let link = found.first {
                above = links.count
                mirrors[links.count] = Array(found.dropFirst())
                known.insert(link)
                links.append(link)
                self.lines.append(place + 1)
            } else {
                for link in found where known.insert(link).inserted {
                    links.append(link)
                    self.lines.append(place + 1)
                }
            }
        }
        for (link, places) in options {
            read(places.map { ($0, lines[$0]) }, of: link, mirrors[link] ?? [])
        }
        if hasOptions { joinRepeated() }
        mistakes.sort { $0.line < $1.line }
    }

    /// Returns the links of a word such as `"https://a.org/1","https://a.org/2"`.
    private static func apart(_ word: Substring) -> [Substring] {
        guard word.contains(where: { ",;".contains($0) }) else { return [word] }
        var (parts, rest) = ([Substring](), word)
        while let mark = rest.firstRange(of: /["']?[,;]["']?(?=[A-Za-z]+:\/\/)/) {
            let part = rest[..<mark.lowerBound]
            // A query may hold a list of its own.
            guard part.ranges(of: "://").count == 1 else { break }
            parts.append(part)
            rest = rest[mark.upperBound...]
        }
        return parts + [rest]
    }

    /// Returns the words of a line without those that cannot be meant as links; all of them if each
    /// may be meant as one.
    private static func linksOfSentence(_ words: [Substring]) -> [Substring] {
        let isAlone = words.count == 1
        // A link alone may end with a mark, but not as an item of a list does.
        let isListed = words.contains { word in
            [word.first, word.last].contains { $0.map(",;\"".contains) == true }
        }
        if isAlone && !isListed || words.allSatisfy({ $0 == withoutMarks($0) }),
            words.allSatisfy({ path(String($0)) != nil || link(String($0)) != nil })
        {
            return words
        }
        let words = words.map(withoutMarks)
        if isAlone { return words.filter { $0.contains { ":/@".contains($0) } } }
        let beginsWithLink = words[0].contains("://")
        return words.filter { mayBeLink($0) || beginsWithLink && isEndOfName($0) }
    }

    /// Whether a word of a sentence may be meant as a link: `magnet:?xt=1` and `e.org/a`, but not
    /// `10:30` and `and/or`.
    private static func mayBeLink(_ word: Substring) -> Bool {
        guard word.count > 1 else { return false }
        if word.contains("/"), path(String(word)) != nil || link(String(word)) != nil {
            return true
        }
        let scheme = word.prefix { $0 != ":" }
        return scheme.count > 1 && scheme.count < word.count - 1 && scheme.first?.isLetter == true
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    /// Whether a word after a link may be a part of the link, which then has a blank: `file.zip`.
    private static func isEndOfName(_ word: Substring) -> Bool {
        guard !word.contains("://"), let dot = word.lastIndex(of: ".") else { return false }
        let ending = word[dot...].dropFirst()
        return (2...5).contains(ending.count)
            && ending.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    /// Returns a word without the punctuation marks around it.
    private static func withoutMarks(_ word: Substring) -> Substring {
        var word = word.drop { "(<[\"'“„«".contains($0) }
        while let last = word.last,
            ".,;:!?\"'”“»".contains(last) || isUnpaired(last, in: word)
        { word.removeLast() }
        return word
    }

    /// Whether a word has more of this closing bracket than of its opening one.
    private static func isUnpaired(_ bracket: Character, in word: Substring) -> Bool {
        let pairs: [Character: Character] = [")": "(", "]": "[", ">": "<"]
        guard let opening = pairs[bracket] else { return false }
        return word.count { $0 == bracket } > word.count { $0 == opening }
    }

    /// Whether a line is indented and has the form `name=value`; the names are those of aria2.
    private static func isOption(_ line: Substring) -> Bool {
        guard line.first == " " || line.first == "\t", let equals = line.firstIndex(of: "=") else {
            return false
        }
        let name = line[..<equals].drop { $0 == " " || $0 == "\t" }
        return !name.isEmpty && name.utf8.allSatisfy { (97...122).contains($0) || $0 == 45 }
    }

    /// Whether a line is a comment or has nothing but blanks.
    private static func isEmpty(_ line: Substring) -> Bool {
        line.first { !$0.isWhitespace }.map { $0 == "#" } ?? true
    }

    /// Whether the option of a line is one of idown's; lists ignore others.
    private static func isKnownOption(_ line: Substring) -> Bool {
        (try? DownloadList("https://a\n\(line)"))?.ignored.isEmpty ?? true
    }

    /// Returns the name of a line's option as it may be shown; the value may be a secret.
    private static func optionName(_ line: Substring) -> String {
        let name = line.drop { $0.isWhitespace }.prefix { $0 != "=" }
        return CellText(String(name)).cut(to: 60).description
    }

    /// Whether a line is nothing but these words with tabs between them.
    private static func isRow(_ line: Substring, of words: [Substring]) -> Bool {
        let parts = line.split(separator: "\t").filter { !$0.allSatisfy(\.isWhitespace) }
        return parts.count == words.count && line.split(whereSeparator: \.isWhitespace) == words
    }

    private mutating func read(
        _ options: [(place: Int, line: Substring)],
        of link: Int,
        _ mirrors: [String]
    ) {
        let lines = options.map(\.line)
        let row = ([links[link]] + mirrors).joined(separator: "\t")
        do throws(DownloadList.Mistake) {
            let list = try DownloadList(([row[...]] + lines).joined(separator: "\n"))
            entries[link] = list.entries.first
            // A relative folder is a mistake, because a typed text has no folder of its own.
            guard entries[link]?.options.directory?.hasPrefix("/") == false else { return }
            let line = lines.lastIndex { $0.contains("dir") } ?? 0
            throw DownloadList.Mistake(line: line + 2, reason: "dir must be a whole path")
        } catch {
            // The first line holds the link and its mirrors.
            let isRow = error.line == 1
            let line = isRow ? self.lines[link] : options[error.line - 2].place + 1
            let name = isRow ? "mirror" : Self.optionName(options[error.line - 2].line)
            mistakes.append(Mistake(line: line, word: name + "=", reason: error.reason))
        }
    }

    /// Makes one link of a link and each later one that would continue its download, because it has
    /// the same folder and no other name: the service ignores the options of such a call.
    ///
    /// Of an option that both have, the later one counts.
    private mutating func joinRepeated() {
        let (all, own) = (Array(zip(links, lines)), entries)
        (links, lines, entries) = ([], [], [:])
        // The place of the first link with each folder and name, and with each folder and any name.
        var places: [[String?]: Int] = [:]
        for (place, (link, line)) in all.enumerated() {
            var entry = own[place]
            let file = [link, entry?.options.directory, entry?.subfolder]
            let named = file + [entry?.options.filename]
            let before = entry == nil ? nil : places[named]
            if let options = before.flatMap({ entries[$0]?.options }) {
                entry?.options.fill(from: options)
            }
            entries[before ?? links.count] = entry
            guard before == nil else { continue }
            for key in [named, file + [nil]] where places[key] == nil { places[key] = links.count }
            links.append(link)
            lines.append(line)
        }
    }

    /// The options of a link: its own, and others where it has none.
    ///
    /// - Parameters:
    ///   - place: The place of the link.
    ///   - others: The options of all links.
    ///   - usual: The service's download folder, for `out=sub/name` without a folder.
    /// - Returns: The options.
    package func options(
        ofLink place: Int,
        with others: AddOptions,
        below usual: String? = nil
    ) -> AddOptions {
        guard var entry = entries[place] else { return others }
        entry.complete(from: others, below: usual) { $0 }
        return entry.options
    }

    /// Whether a link has options of its own.
    package var hasOptions: Bool { !entries.isEmpty }

    /// The least number of downloads: a metalink may contain several.
    package var count: Int { links.count + metalinks.count }

    private static func link(_ word: String) -> String? {
        guard let parts = URLText(word) else { return URLText.completed(word) }
        return schemes.contains(parts.scheme) ? word : nil
    }

    /// Returns the path of a file on this machine; nil if the word is not one.
    private static func path(_ word: String) -> String? {
        if word.hasPrefix("/") { return word }
        guard word.hasPrefix("file:///") else { return nil }
        return URLText.percentDecoded(word.dropFirst("file://".count))
    }

    /// Whether the name of a file is that of a metalink.
    package static func isMetalink(_ path: String) -> Bool {
        let name = path.lowercased()
        return name.hasSuffix(".meta4") || name.hasSuffix(".metalink")
    }
}
