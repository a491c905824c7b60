// SPDX-License-Identifier: Apache-2.0

/// Translates the texts of this room; without translations they stay in English.
package struct Wording: Sendable {
    /// Returns the translation of a text.
    package let text: @Sendable (String) -> String
    /// Returns the translation of a text that depends on a number: in English one of two.
    package let plural: @Sendable (String, String, UInt) -> String

    package init(
        text: @escaping @Sendable (String) -> String,
        plural: @escaping @Sendable (String, String, UInt) -> String
    ) {
        self.text = text
        self.plural = plural
    }

    /// The translations in use; the window sets those of the user's language.
    @TaskLocal package static var current = Wording(
        text: { $0 },
        plural: { one, several, count in count == 1 ? one : several }
    )
}

/// Returns a text in the user's language.
///
/// - Parameters:
///   - text: The text in English, which translators find by this function's name.
///   - values: What replaces `{name}` in the text.
/// - Returns: The translation; the text itself where there is none.
package func translated(_ text: String, _ values: [String: String] = [:]) -> String {
    filled(Wording.current.text(text), values)
}

/// Returns a text about a number of things in the user's language.
///
/// - Parameters:
///   - one: The text in English for one thing.
///   - several: The text in English for any other number; `{count}` stands for the number.
///   - count: The number.
///   - values: What replaces `{name}` in the text.
/// - Returns: The translation; one of the texts where there is none.
package func counted(
    _ one: String,
    _ several: String,
    _ count: UInt,
    _ values: [String: String] = [:]
) -> String {
    let values = values.merging(["count": "\(count)"]) { $1 }
    return filled(Wording.current.plural(one, several, count), values)
}

private func filled(_ text: String, _ values: [String: String]) -> String {
    guard !values.isEmpty, text.contains("{") else { return text }
    var rest = text[...]
    var filled = ""
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
        let name = String(rest[rest.index(after: open)..<close])
        filled += rest[..<open]
        filled += values[name] ?? String(rest[open...close])
        rest = rest[rest.index(after: close)...]
    }
    return filled + rest
}
