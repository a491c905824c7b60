// SPDX-License-Identifier: Apache-2.0

/// Translates texts for people; without translations they stay in English.
package struct Wording: Sendable {
    /// Returns the translation of a text.
    package let text: @Sendable (String) -> String
    /// Returns the translation of a text that depends on a number: in English one of two.
    package let plural: @Sendable (String, String, UInt) -> String
    /// The sign between the thousands of a count; empty for none.
    package let groupSign: String
    /// Whether texts stay in English, as the service's own messages are.
    package let isEnglish: Bool

    package init(
        text: @escaping @Sendable (String) -> String,
        plural: @escaping @Sendable (String, String, UInt) -> String,
        groupSign: String = "",
        isEnglish: Bool = false
    ) {
        self.text = text
        self.plural = plural
        self.groupSign = groupSign
        self.isEnglish = isEnglish
    }

    /// The translations in use; the window and the service set those of the user's language.
    @TaskLocal package static var current = Wording(
        text: { $0 },
        plural: { one, several, count in count == 1 ? one : several },
        isEnglish: true
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
    let values = values.merging(["count": shown(count)]) { $1 }
    return filled(Wording.current.plural(one, several, count), values)
}

/// Returns a count as the user's language writes it: "12,345".
package func shown(_ count: UInt) -> String {
    var text = String(count)
    let sign = Wording.current.groupSign
    guard !sign.isEmpty else { return text }
    var place = text.utf8.count - 3
    while place > 0 {
        text.insert(contentsOf: sign, at: text.index(text.startIndex, offsetBy: place))
        place -= 3
    }
    return text
}

/// Returns a percentage as the user's language writes it: "40%".
package func shown(percent: UInt) -> String { translated("{percent}%", ["percent": "\(percent)"]) }

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
