// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// A list of downloads as text: a URL a line, or aria2's input file (aria2c(1), "Input File").
///
/// The URLs of one file stand in one line with tabs between them. Indented lines below are its
/// options; lines that start with `#` are comments.
package struct DownloadList: Hashable, Sendable {
    /// One download.
    package struct Entry: Hashable, Sendable {
        /// The line of the URL, counted from 1.
        package var line: Int
        package var url: String
        /// `directory` as it was written; who reads the list completes a relative one.
        package var options: AddOptions
        /// The folder below `directory` that was written before the file's name; nil for none.
        package var subfolder: String?

        package init(line: Int, url: String, options: AddOptions) {
            self.line = line
            self.url = url
            self.options = options
        }
    }

    /// A line that cannot be read; it never repeats a value, which may be a secret.
    package struct Mistake: Error, Hashable, CustomStringConvertible {
        package let line: Int
        package let reason: String

        package var description: String { "line \(line): \(reason)" }
    }

    package internal(set) var entries: [Entry] = []
    /// aria2's options that idown does not have, each with the first line that names it.
    package internal(set) var ignored: [String: Int] = [:]

    /// Reads a list.
    package init(_ text: String) throws(Mistake) {
        // By bytes: lists are long, and all separators are ASCII.
        var bytes = text.utf8[...]
        // A byte order mark does not belong to the first URL.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        var number = 0
        for line in bytes.split(
            omittingEmptySubsequences: false,
            whereSeparator: { $0 == UInt8(ascii: "\n") }
        ) {
            number += 1
            guard let first = line.first else { continue }
            if Self.isBlank(first) {
                try readOption(line, number)
            } else if first != UInt8(ascii: "#") {
                try readURLs(line, number)
            }
        }
    }

    /// Changes each entry.
    package mutating func change(_ body: (inout Entry) throws -> Void) rethrows {
        for place in entries.indices { try body(&entries[place]) }
    }

    private mutating func readURLs(
        _ line: Substring.UTF8View,
        _ number: Int
    ) throws(Mistake) {
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

    private mutating func readOption(
        _ line: Substring.UTF8View,
        _ number: Int
    ) throws(Mistake) {
        let text = Self.trimmed(line).utf8
        guard let first = text.first, first != UInt8(ascii: "#") else { return }
        guard !entries.isEmpty else {
            throw Mistake(line: number, reason: "an option stands before the first URL")
        }
        guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else {
            throw Mistake(
                line: number,
                reason: "an indented line is an option, name=value; a URL is not indented"
            )
        }
        let name = Self.trimmed(text[..<equals])
        let value = Self.trimmed(text[text.index(after: equals)...])
        guard let option = Option(rawValue: name) else {
            // A name that cannot be an option, such as an indented URL, is a mistake: to ignore it
            // would lose a download. aria2 has many options that mean nothing here.
            guard name.utf8.allSatisfy(Self.isOfOptionName) else {
                throw Mistake(
                    line: number,
                    reason: "an indented line is an option, name=value; a URL is not indented"
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

    /// aria2's names of options are of small letters, digits and dashes.
    private static func isOfOptionName(_ byte: UInt8) -> Bool {
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

    /// Blank, tab, and the return before a line feed.
    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}

extension DownloadList {
    /// What is wrong with an option's value, as in "dir is a folder".
    private struct Reason: Error {
        let text: String
    }

    /// The options that idown has; their names are aria2's, except for the last two.
    private enum Option: String {
        case out, dir, checksum, referer, header, pause, split
        case userAgent = "user-agent"
        case connections = "max-connection-per-server"
        case limit = "max-download-limit"
        case priority
        case token

        func set(_ value: String, in entry: inout Entry) throws(Reason) {
            switch self {
            case .out:
                // aria2 takes folders here too.
                guard let slash = value.lastIndex(of: "/") else {
                    entry.options.filename = value
                    entry.subfolder = nil
                    return
                }
                entry.subfolder = slash == value.startIndex ? "/" : String(value[..<slash])
                entry.options.filename = String(value[value.index(after: slash)...])
            case .dir:
                guard !value.isEmpty else { throw Reason(text: "is a folder") }
                entry.options.directory = value
            case .checksum: entry.options.checksum = value
            // An asterisk is aria2's sign for the URL itself.
            case .referer: entry.options.referrer = value == "*" ? entry.url : value
            case .userAgent: entry.options.userAgent = value
            case .token: entry.options.token = value
            case .header:
                guard let header = RequestHeader(value) else {
                    throw Reason(text: "is a header, Name: value")
                }
                entry.options.headers.append(header.header)
            case .pause:
                guard let choice = ["true": true, "false": false][value] else {
                    throw Reason(text: "is true or false")
                }
                entry.options.paused = choice
            case .split, .connections:
                guard let count = UInt32(value), count > 0 else {
                    throw Reason(text: "is a number, at least 1")
                }
                // In aria2 both are upper bounds: the lower one holds.
                let bound = min(count, Contract.connections.upperBound)
                entry.options.connections = min(entry.options.connections ?? bound, bound)
            case .limit:
                guard let rate = Quantity.rate(value) else {
                    throw Reason(text: "is a rate such as 500K or 2M")
                }
                entry.options.speedLimit = rate
            case .priority:
                guard let number = Int32(value) else { throw Reason(text: "is a whole number") }
                entry.options.priority = number
            }
        }
    }
}
