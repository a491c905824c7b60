// SPDX-License-Identifier: Apache-2.0

package import DBus

extension TaskQuery {
    /// The keys that the service accepts.
    private static let table = OptionTable<TaskQuery>(
        noun: "key",
        [
            .init("states", words: \.states, states),
            .init("text", \.text),
            .init("added-by", \.addedBy),
            .init("sort", word: \.sort),
            .init("descending", \.descending),
            .init("offset", \.offset),
            .init("limit", \.limit),
            .init("properties", words: \.properties, TaskProperty.all),
        ]
    )

    /// Decodes the query of a call.
    ///
    /// - Throws: `InvalidOption`; the text names the key and what it allows.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        self.init()
        try Self.table.read(dictionary, into: &self)
    }

    private static func states(
        _ name: OptionName,
        _ words: [String]
    ) throws(ManagerError) -> [TaskProperties.State] {
        let known = TaskProperties.State.known
        for word in words where !known.contains(TaskProperties.State(rawValue: word)) {
            let all = known.map(\.rawValue).joined(separator: ", ")
            throw name.refusal("may hold \(all), not \(QuotedText(word))")
        }
        return words.map { TaskProperties.State(rawValue: $0) }
    }

    /// The given keys as `a{sv}`.
    package var dictionary: [String: Value] { Self.table.dictionary(of: self) }
}
