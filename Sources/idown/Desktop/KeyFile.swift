// SPDX-License-Identifier: Apache-2.0

/// A key file of the desktop: groups of keys, edited line by line.
///
/// What is not edited stays as it is, comments and blank lines included (Desktop Entry
/// Specification, "Basic format of the file"). A key that stands twice has its last value, as GLib
/// reads it.
struct KeyFile: Hashable {
    /// Without their line feeds; the last is empty where the text ends with one.
    private var lines: [String]

    /// Takes any text; what is no group and no key is kept and never found.
    init(_ text: String) {
        lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0) }
    }

    /// The whole file.
    var text: String { lines.joined(separator: "\n") }

    /// The value of a key; nil where it does not stand in the group.
    func value(_ key: String, in group: String) -> String? {
        line(of: key, in: group).flatMap { Self.entry(lines[$0])?.value }
    }

    /// The value of a key as a list: its elements end with semicolons.
    func list(_ key: String, in group: String) -> [String] {
        (value(key, in: group) ?? "").split(separator: ";").map(String.init)
    }

    /// Changes a key's value, makes the key and its group if need be, or takes the key out.
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

    /// Changes a key's value to a list; an empty one takes the key out.
    mutating func set(_ key: String, in group: String, to list: [String]) {
        set(key, in: group, to: list.isEmpty ? nil : list.map { $0 + ";" }.joined())
    }

    /// Puts a group at the end, a blank line before it.
    private mutating func append(_ group: [String]) {
        while lines.last?.isEmpty == true { lines.removeLast() }
        if !lines.isEmpty { lines.append("") }
        lines += group + [""]
    }

    // MARK: Finding

    private func line(of key: String, in group: String) -> Int? {
        places(in: group).last { Self.entry(lines[$0]).map { $0.key == key } ?? false }
    }

    /// Behind the group's last line that says something.
    private func end(of group: String) -> Int? {
        places(in: group).last { !lines[$0].allSatisfy(\.isWhitespace) }.map { $0 + 1 }
    }

    /// The lines of a group, its header included, wherever it goes on.
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
