// SPDX-License-Identifier: Apache-2.0

/// The folders in the file `user-dirs.dirs` of xdg-user-dirs: shell assignments
/// `XDG_…_DIR="$HOME/…"`.
///
/// Only the form that user-dirs.dirs(5) allows is read: a value in double quotes that begins with
/// `$HOME/` or `/`, with backslashes before characters that are special in a shell.
struct UserDirectories {
    private var folders: [String: String] = [:]

    init(content: [UInt8], home: String) {
        for line in content.split(separator: UInt8(ascii: "\n")) {
            guard let line = String(validating: line, as: UTF8.self),
                let (name, value) = Self.assignment(line[...])
            else { continue }
            // A later assignment replaces an earlier one, as in a shell.
            folders[name] = Self.folder(value, home: home)
        }
    }

    /// The folder, absolute; nil if it is not set, or set to the home folder itself, which means
    /// that the user wants none.
    subscript(name: String) -> String? { folders[name] }

    private static func assignment(_ line: Substring) -> (name: String, value: Substring)? {
        let line = line.drop { $0 == " " || $0 == "\t" }
        guard let equals = line.firstIndex(of: "="), !line.hasPrefix("#") else { return nil }
        return (String(line[..<equals]), line[equals...].dropFirst())
    }

    private static func folder(_ value: Substring, home: String) -> String? {
        guard var text = unquoted(value) else { return nil }
        let variable = "$HOME"
        if text.hasPrefix(variable) {
            let rest = text.dropFirst(variable.count)
            guard rest.isEmpty || rest.hasPrefix("/") else { return nil }
            text = (home == "/" ? "" : home) + rest
        }
        while text.count > 1, text.hasSuffix("/") { text.removeLast() }
        return text.hasPrefix("/") && text != home ? text : nil
    }

    /// Returns the text between the double quotes, without escaping backslashes.
    private static func unquoted(_ value: Substring) -> String? {
        guard value.first == "\"" else { return nil }
        var text = ""
        var rest = value.dropFirst()
        while let character = rest.popFirst() {
            switch character {
            case "\"": return text
            case "\\":
                guard let escaped = rest.popFirst() else { return nil }
                text.append(escaped)
            default: text.append(character)
            }
        }
        return nil
    }
}
