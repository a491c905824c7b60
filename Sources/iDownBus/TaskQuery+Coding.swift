// SPDX-License-Identifier: Apache-2.0

package import DBus

extension TaskQuery {
    /// Decodes the query of a call.
    ///
    /// - Throws: `InvalidOption`; the text names the key and what would be right.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        self.init()
        try Key.forEach(in: dictionary) { (key, value) throws(ManagerError) in
            switch key {
            case .states: states = try Self.states(key, try key.read(value))
            case .text: text = try key.read(value)
            case .addedBy: addedBy = try key.read(value)
            case .sort: sort = try key.word(value)
            case .descending: descending = try key.read(value)
            case .offset: offset = try key.read(value)
            case .limit: limit = try key.read(value)
            case .properties: properties = try TaskProperty.all(named: try key.read(value))
            }
        }
    }

    private static func states(
        _ key: Key,
        _ words: [String]
    ) throws(ManagerError) -> [TaskProperties.State] {
        let known = TaskProperties.State.known
        for word in words where !known.contains(TaskProperties.State(rawValue: word)) {
            let all = known.map(\.rawValue).joined(separator: ", ")
            throw key.refusal("may hold \(all), not \(QuotedText(word))")
        }
        return words.map { TaskProperties.State(rawValue: $0) }
    }

    /// The given keys as `a{sv}`.
    package var dictionary: [String: Value] {
        var dictionary: [String: Value] = [:]
        for key in Key.allCases { dictionary[key.rawValue] = value(of: key) }
        return dictionary
    }

    private func value(of key: Key) -> Value? {
        switch key {
        case .states: states.isEmpty ? nil : states.map(\.rawValue).busValue
        case .text: text?.busValue
        case .addedBy: addedBy?.busValue
        case .sort: sort?.rawValue.busValue
        case .descending: descending?.busValue
        case .offset: offset?.busValue
        case .limit: limit?.busValue
        case .properties: properties.isEmpty ? nil : properties.map(\.rawValue).busValue
        }
    }
}
