// SPDX-License-Identifier: Apache-2.0

/// A key file of the desktop: groups of keys, edited line by line.
///
/// Lines that are not edited stay unchanged, comments and blank lines included (Desktop Entry
/// Specification, "Basic format of the file"). If a group has a key twice, the last value counts,
/// as with GLib.
struct KeyFile: Hashable {
    /// The lines without line feeds; the last one is empty if the text ends with a line feed.
    private var lines: [String]

    /// Reads any text; lines that are neither a group nor a key are kept and have no effect.
    init(_ text: String) {
        lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0) }
    }

    /// The text of the whole file.
    var text: String { lines.joined(separator: "\n") }

    /// Returns the value of a key; nil if the group does not have it.
    func value(_ key: String, in group: String) -> String? {
        line(of: key, in: group).flatMap { Self.entry(lines[$0])?.value }
    }

    /// Returns the value of a key as a list, whose elements are separated by semicolons.
    func list(_ key: String, in group: String) -> [String] {
        (value(key, in: group) ?? "").split(separator: ";").map(String.init)
    }

    /// Sets the value of a key, adding the key and its group if necessary; nil removes the key.
    mutating func set(_ key: String, in group: String, to value: String?) {
        guard let value else {
            while let line = line(of: key, in: group) { lines.remove(at: line) }
            return
        }
        let text = "\(key)=\(value)"
        if let line = line(of: key, in: group) {
            lines[line] = text
        } else if let end = end(of: group) {
            lines.insert(text, at: end)
        } else {
            append(["[\(group)]", text])
        }
    }

    /// Sets the value of a key to a list; an empty list removes the key.
    mutating func set(_ key: String, in group: String, to list: [String]) {
        set(key, in: group, to: list.isEmpty ? nil : list.map { $0 + ";" }.joined())
    }

    /// Adds a group at the end, after a blank line.
    private mutating func append(_ group: [String]) {
        while lines.last?.isEmpty == true { lines.removeLast() }
        if !lines.isEmpty { lines.append("") }
        lines += group + [""]
    }

    // MARK: Finding

    private func line(of key: String, in group: String) -> Int? {
        places(in: group).last { Self.entry(lines[$0]).map { $0.key == key } ?? false }
    }

    /// Returns the place after the last line of the group that is not blank; nil without the group.
    private func end(of group: String) -> Int? {
        places(in: group).last { !lines[$0].allSatisfy(\.isWhitespace) }.map { $0 + 1 }
    }

    /// Returns the lines of a group with its headers; a file may contain a group in several parts.
    private func places(in group: String) -> [Int] {
        var isInside = false
        return lines.indices.filter { index in
            if let name = Self.header(lines[index]) { isInside = name == group }
            return isInside
        }
    }

    private static func header(_ line: String) -> Substring? {
        guard line.hasPrefix("["), let end = line.firstIndex(of: "]") else { return nil }
        return line[line.index(after: line.startIndex)..<end]
    }

    private static func entry(_ line: String) -> (key: Substring, value: String)? {
        guard !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") else { return nil }
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
        var key = line[..<equals]
        while let last = key.last, isBlank(last) { key.removeLast() }
        var value = line[line.index(after: equals)...].drop(while: isBlank)
        while let last = value.last, isBlank(last) { value.removeLast() }
        return (key, String(value))
    }
}
