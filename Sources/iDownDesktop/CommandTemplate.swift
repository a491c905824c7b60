// SPDX-License-Identifier: Apache-2.0

/// A program and its arguments, in which `{path}` and `{url}` stand for what they say.
///
/// No shell reads them, and what is filled in is never read again: a file's name remains one
/// argument, or a part of one, whatever stands in it.
struct CommandTemplate: Sendable {
    let words: [String]

    /// The command for one file.
    func command(path: String, url: String) -> [String] {
        words.map { Self.fill($0, ["{path}": path, "{url}": url]) }
    }

    private static func fill(_ word: String, _ values: [String: String]) -> String {
        var filled = ""
        var rest = word[...]
        while let brace = rest.firstIndex(of: "{") {
            filled += rest[..<brace]
            rest = rest[brace...]
            if let (key, value) = values.first(where: { rest.hasPrefix($0.key) }) {
                filled += value
                rest = rest.dropFirst(key.count)
            } else {
                filled.append(rest.removeFirst())
            }
        }
        return filled + rest
    }
}
