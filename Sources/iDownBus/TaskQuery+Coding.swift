// SPDX-License-Identifier: Apache-2.0

public import DBus

extension TaskQuery {
    /// Decodes the query of a call.
    ///
    /// - Throws: `InvalidOption`; the text names the key and what would be right.
    public init(_ dictionary: [String: Value]) throws(ManagerError) {
        self.init()
        // Sorted, so that the same one of several mistakes is always reported.
        for (text, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            guard let key = Key(rawValue: text) else {
                let keys = Key.allCases.map(\.rawValue).joined(separator: ", ")
                throw ManagerError(
                    .invalidOption,
                    "There is no key \(QuotedText(text)). The keys are \(keys)."
                )
            }
            switch key {
            case .states: states = try Self.states(try Self.read(key, value))
            case .text: self.text = try Self.read(key, value)
            case .sort: sort = try Self.sort(try Self.read(key, value))
            case .descending: descending = try Self.read(key, value)
            case .offset: offset = try Self.read(key, value)
            case .limit: limit = try Self.read(key, value)
            case .properties: properties = try Self.properties(try Self.read(key, value))
            }
        }
    }

    private static func read<Content: BusType>(
        _ key: Key,
        _ value: Value
    ) throws(ManagerError) -> Content {
        do throws(DecodingFailure) {
            return try Content(busValue: value)
        } catch {
            throw ManagerError(
                .invalidOption,
                "\(key.rawValue) must be of type \(Content.signature), not \(value.signature)."
            )
        }
    }

    private static func states(
        _ words: [String]
    ) throws(ManagerError) -> [TaskProperties.State] {
        let known = TaskProperties.State.known
        for word in words where !known.contains(TaskProperties.State(rawValue: word)) {
            let all = known.map(\.rawValue).joined(separator: ", ")
            throw ManagerError(
                .invalidOption,
                "states may hold \(all), not \(QuotedText(word))."
            )
        }
        return words.map { TaskProperties.State(rawValue: $0) }
    }

    private static func properties(_ words: [String]) throws(ManagerError) -> [TaskProperty] {
        var properties: [TaskProperty] = []
        for word in words {
            guard let property = TaskProperty(rawValue: word) else {
                throw ManagerError(
                    .invalidOption,
                    "properties may hold names of Task1's properties, such as Id, not"
                        + " \(QuotedText(word))."
                )
            }
            properties.append(property)
        }
        return properties
    }

    private static func sort(_ word: String) throws(ManagerError) -> Sort {
        guard let sort = Sort(rawValue: word) else {
            let all = Sort.allCases.map(\.rawValue).joined(separator: ", ")
            throw ManagerError(
                .invalidOption,
                "sort must be one of \(all), not \(QuotedText(word))."
            )
        }
        return sort
    }

    /// The given keys as `a{sv}`.
    public var dictionary: [String: Value] {
        var dictionary: [String: Value] = [:]
        for key in Key.allCases { dictionary[key.rawValue] = value(of: key) }
        return dictionary
    }

    private func value(of key: Key) -> Value? {
        switch key {
        case .states: states.isEmpty ? nil : states.map(\.rawValue).busValue
        case .text: text?.busValue
        case .sort: sort?.rawValue.busValue
        case .descending: descending?.busValue
        case .offset: offset?.busValue
        case .limit: limit?.busValue
        case .properties: properties.isEmpty ? nil : properties.map(\.rawValue).busValue
        }
    }
}
