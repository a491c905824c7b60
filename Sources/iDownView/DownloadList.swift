// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// A list of downloads as text: one URL per line, or aria2's input file (aria2c(1), "Input File").
///
/// The URLs of one file are on one line, with tabs between them. The indented lines below are the
/// options of this file. Lines that start with `#` are comments.
package struct DownloadList: Hashable, Sendable {
    /// One download.
    package struct Entry: Hashable, Sendable {
        /// The line of the URL, counted from 1, or its place in a JSON array.
        package var line: Int
        package var url: String
        /// The options; `directory` stays as written, and the caller makes a relative one absolute.
        package var options: AddOptions
        /// The folder that `out` has before the file name, below `directory` or, without one, below
        /// the download folder; nil if it has none, or if `directory` contains it.
        package var subfolder: String?

        package init(line: Int, url: String, options: AddOptions) {
            self.line = line
            self.url = url
            self.options = options
        }
    }

    /// A line that cannot be read.
    ///
    /// The reason never repeats a value, because it may be a secret.
    package struct Mistake: Error, Hashable, CustomStringConvertible {
        /// The line, or the place in a JSON array, as ``Entry/line`` counts them.
        package let line: Int
        package let reason: String
        /// The line of the entry that is left out for an option in another line; nil if the mistake
        /// is in the entry's own line, or belongs to none.
        package fileprivate(set) var entry: Int?

        package var description: String { "line \(line): \(reason)" }
    }

    package var entries: [Entry] = []
    /// Why entries are left out: the first mistake of each.
    package internal(set) var mistakes: [Mistake] = []
    /// What ``Entry/line`` counts: lines, or the downloads of a JSON array.
    package internal(set) var unit = "line"
    /// The options of aria2 that idown does not have, each with the first line that uses it.
    package internal(set) var ignored: [String: Int] = [:]

    /// Reads a list that is not JSON and has no mistakes.
    package init(_ text: String) throws(Mistake) {
        self.init(text: text)
        if let mistake = mistakes.first { throw mistake }
    }

    /// Reads a list that is not JSON, and leaves out the entries with mistakes.
    private init(text: String) {
        // Whether the options that come next belong to an entry that is left out.
        var isLeftOut = false
        // Bytes are faster than characters for long lists, and all separators are ASCII.
        var number = 0
        for line in text.utf8.split(
            omittingEmptySubsequences: false,
            whereSeparator: { $0 == UInt8(ascii: "\n") }
        ) {
            number += 1
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            let isOption = Self.isBlank(first)
            if isOption, isLeftOut { continue }
            do throws(Mistake) {
                isLeftOut = false
                guard !line.contains(0) else {
                    throw Mistake(line: number, reason: "a text must not contain U+0000")
                }
                if isOption {
                    try readOption(line, number)
                } else {
                    try readURLs(line, number)
                }
            } catch {
                isLeftOut = true
                var mistake = error
                if isOption { mistake.entry = entries.popLast()?.line }
                mistakes.append(mistake)
            }
        }
    }

    /// Reads a list in either form, and leaves out the entries with mistakes.
    ///
    /// - Throws: The mistake of a text that looks like JSON and is no list.
    package init(textOrJSON text: String) throws(Mistake) {
        let isJSON = ["[", "{"].contains(text.first { !$0.isWhitespace })
        self = isJSON ? try DownloadList(json: text) : DownloadList(text: text)
    }

    private mutating func readURLs(_ line: Substring.UTF8View, _ number: Int) throws(Mistake) {
        let urls = line.split(whereSeparator: { $0 == UInt8(ascii: "\t") }).map(Self.trimmed)
            .filter { !$0.isEmpty }
        guard let url = urls.first else { return }
        var options = AddOptions()
        options.mirrors = Array(urls.dropFirst())
        guard options.mirrors.count <= Contract.maximumMirrors else {
            throw Mistake(line: number, reason: "more than \(Contract.maximumMirrors) mirrors")
        }
        entries.append(Entry(line: number, url: url, options: options))
    }

    private mutating func readOption(_ line: Substring.UTF8View, _ number: Int) throws(Mistake) {
        let text = Self.trimmed(line).utf8
        guard let first = text.first, first != UInt8(ascii: "#") else { return }
        guard !entries.isEmpty else {
            throw Mistake(line: number, reason: "an option comes before the first URL")
        }
        guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else {
            throw Mistake(
                line: number,
                reason: "an indented line must be an option, name=value; do not indent a URL"
            )
        }
        let name = Self.trimmed(text[..<equals])
        let value = Self.trimmed(text[text.index(after: equals)...])
        guard let option = Option(rawValue: name) else {
            // Unknown options are ignored, because aria2 has many that idown does not need. Any
            // other text, such as an indented URL, is an error: ignoring it would lose a download.
            guard name.utf8.allSatisfy(Self.isAllowedInOptionName) else {
                throw Mistake(
                    line: number,
                    reason: "an indented line must be an option, name=value; do not indent a URL"
                )
            }
            ignored[CellText(name).cut(to: 40).description, default: number] = number
            return
        }
        do throws(Reason) {
            try option.set(value, in: &entries[entries.count - 1])
        } catch {
            throw Mistake(line: number, reason: "\(name) \(error.text)")
        }
    }

    /// Whether aria2 uses the byte in option names: lower-case letters, digits and dashes.
    private static func isAllowedInOptionName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        var text = text
        while let last = text.last, isBlank(last) { text.removeLast() }
        return String(Substring(text.drop(while: isBlank)))
    }

    /// Whether the byte is a space, a tab or a carriage return, which may precede a line feed.
    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}

extension DownloadList {
    /// What an option's value must be, as in "dir must be a folder".
    private struct Reason: Error {
        let text: String
    }

    /// The options that idown reads; from `priority` on the names are idown's own, and those before
    /// are aria2's.
    private enum Option: String {
        case out, dir, checksum, referer, header, pause, split
        case userAgent = "user-agent"
        case connections = "max-connection-per-server"
        case limit = "max-download-limit"
        case priority
        case retryFor = "retry-for"
        case token
        case mirror
        case expectedSize = "expected-size"
        case whenDone = "when-done"
        case onExisting = "on-existing"

        func set(_ value: String, in entry: inout Entry) throws(Reason) {
            switch self {
            case .out:
                guard let slash = value.lastIndex(of: "/") else {
                    entry.options.filename = value
                    entry.subfolder = nil
                    return
                }
                // As in aria2, they are below that of dir=, also behind a leading slash; a dot comes
                // before a name that begins with a blank.
                let folders = value[..<slash].split(separator: "/").filter { $0 != "." }
                guard !folders.contains("..") else {
                    throw Reason(text: "must stay below the folder; dir= names another one")
                }
                entry.subfolder = folders.isEmpty ? nil : folders.joined(separator: "/")
                entry.options.filename = String(value[value.index(after: slash)...])
            case .dir:
                guard !value.isEmpty else { throw Reason(text: "must be a folder") }
                entry.options.directory = value
            case .checksum: entry.options.checksum = value
            // An asterisk is aria2's sign for the URL itself.
            case .referer: entry.options.referrer = value == "*" ? entry.url : value
            case .userAgent: entry.options.userAgent = value
            case .token: entry.options.token = value
            case .mirror:
                guard entry.options.mirrors.count < Contract.maximumMirrors else {
                    throw Reason(text: "is given more than \(Contract.maximumMirrors) times")
                }
                entry.options.mirrors.append(value)
            case .header:
                guard let header = AddOptions.Header(line: value) else {
                    throw Reason(text: "must have the form Name: value")
                }
                entry.options.headers.append(header)
            case .pause:
                guard let choice = ["true": true, "false": false][value] else {
                    throw Reason(text: "must be true or false")
                }
                entry.options.paused = choice
            case .split, .connections:
                guard let count = UInt32(value), count > 0 else {
                    throw Reason(text: "must be a number, 1 or more")
                }
                // Both options are upper bounds in aria2, so the lower one applies.
                let bound = min(count, Contract.connections.upperBound)
                entry.options.connections = min(entry.options.connections ?? bound, bound)
            case .limit:
                guard let rate = Quantity.rate(value) else {
                    throw Reason(text: "must be a rate such as 500K or 2M")
                }
                entry.options.speedLimit = rate
            case .retryFor:
                guard let seconds = Quantity.seconds(value) else {
                    throw Reason(text: "must be a time such as 15m or 2h, or forever")
                }
                entry.options.retryFor = seconds
            case .expectedSize:
                guard let size = UInt64(value) else {
                    throw Reason(text: "must be a number of bytes")
                }
                entry.options.expectedSize = size
            case .whenDone: entry.options.whenDone = try Self.word(value)
            case .onExisting: entry.options.onExisting = try Self.word(value)
            case .priority:
                guard let number = Int32(value) else {
                    throw Reason(text: "must be a whole number")
                }
                entry.options.priority = number
            }
        }

        private static func word<Word: CaseIterable & RawRepresentable<String>>(
            _ value: String
        ) throws(Reason) -> Word {
            guard let word = Word(rawValue: value) else {
                let words = Word.allCases.map(\.rawValue).joined(separator: " or ")
                throw Reason(text: "must be \(words)")
            }
            return word
        }
    }
}

extension DownloadList.Entry {
    /// Fills in options that apply where the list sets none, and makes the folder absolute.
    ///
    /// - Parameters:
    ///   - defaults: The options; a token is for one call, and is not filled in.
    ///   - usual: The service's download folder; if it is unknown, ``subfolder`` may stay.
    ///   - absolute: Returns the whole path of a folder.
    /// - Throws: What `absolute` throws.
    package mutating func complete<Failure: Error>(
        from defaults: AddOptions,
        below usual: String? = nil,
        _ absolute: (String) throws(Failure) -> String
    ) throws(Failure) {
        var folder = defaults.directory
        if let own = options.directory { folder = try absolute(own) }
        if let subfolder, let above = folder ?? usual {
            folder = above + "/" + subfolder
            self.subfolder = nil
        }
        options.directory = folder
        options.fill(from: defaults)
    }
}

extension AddOptions {
    /// Takes over the options that are not given here.
    mutating func fill(from defaults: AddOptions) {
        filename = filename ?? defaults.filename
        checksum = checksum ?? defaults.checksum
        expectedSize = expectedSize ?? defaults.expectedSize
        if mirrors.isEmpty { mirrors = defaults.mirrors }
        paused = paused ?? defaults.paused
        priority = priority ?? defaults.priority
        connections = connections ?? defaults.connections
        speedLimit = speedLimit ?? defaults.speedLimit
        retryFor = retryFor ?? defaults.retryFor
        referrer = referrer ?? defaults.referrer
        userAgent = userAgent ?? defaults.userAgent
        cookies = cookies ?? defaults.cookies
        onExisting = onExisting ?? defaults.onExisting
        whenDone = whenDone ?? defaults.whenDone
        let names = Set(headers.map { $0.name.lowercased() })
        headers += defaults.headers.filter { !names.contains($0.name.lowercased()) }
    }
}

extension AddOptions.Header {
    /// Splits the text `Name: value`; nil if it has no name.
    package init?(line: String) {
        guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { return nil }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        self.init(name: String(line[..<colon]), value: String(value))
    }
}
