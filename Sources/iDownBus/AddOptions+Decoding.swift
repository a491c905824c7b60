// SPDX-License-Identifier: Apache-2.0

public import DBus

extension AddOptions {
    /// Decodes the options of a call.
    ///
    /// The folder, the mirrors and the digest are not checked here, because only the service knows
    /// what it accepts.
    ///
    /// - Throws: `InvalidOption` or `LimitExceeded`. The text names the key and what would be
    ///   right, but never repeats the value.
    public init(_ dictionary: [String: Value]) throws(ManagerError) {
        self.init()
        // Sorted, so that the same one of several mistakes is always reported.
        for (text, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            guard let key = Key(rawValue: text) else { throw Self.unknown(text) }
            try set(key, value)
        }
    }

    private mutating func set(_ key: Key, _ value: Value) throws(ManagerError) {
        switch key {
        case .directory: directory = try Self.read(key, value)
        case .filename: filename = try Self.fileName(try Self.read(key, value))
        case .paused: paused = try Self.read(key, value)
        case .priority: priority = try Self.read(key, value)
        case .connections: connections = try Self.connections(try Self.read(key, value))
        case .headers: headers = try HeaderRules.headers(value)
        case .referrer: referrer = try Self.fieldValue(key, try Self.read(key, value))
        case .userAgent: userAgent = try Self.fieldValue(key, try Self.read(key, value))
        case .token: token = try Self.token(try Self.read(key, value))
        case .onExisting: onExisting = try Self.word(key, try Self.read(key, value))
        case .speedLimit: speedLimit = try Self.speedLimit(try Self.read(key, value))
        case .mirrors: mirrors = try Self.mirrors(try Self.read(key, value))
        case .checksum: checksum = try Self.read(key, value)
        case .whenDone: whenDone = try Self.word(key, try Self.read(key, value))
        case .expectedSize: expectedSize = try Self.size(try Self.read(key, value))
        case .retryFor: retryFor = try Self.retryFor(try Self.read(key, value))
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

    private static func unknown(_ text: String) -> ManagerError {
        let keys = Key.allCases.map(\.rawValue).joined(separator: ", ")
        return ManagerError(
            .invalidOption,
            "There is no option \(QuotedText(text)). The options are \(keys)."
        )
    }
}

// The rules for values.
extension AddOptions {
    /// The longest file name of common file systems, in bytes.
    private static let maximumFileNameBytes = 255

    private static let tokenBytes = 1...255

    private static func fileName(_ name: String) throws(ManagerError) -> String {
        let isElement =
            !name.isEmpty && !name.utf8.contains(UInt8(ascii: "/"))
            && name.utf8.first != UInt8(ascii: ".")
            && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard isElement else {
            throw ManagerError(
                .invalidOption,
                "filename must be one name without slashes, a leading dot or control characters."
            )
        }
        guard name.utf8.count <= maximumFileNameBytes else {
            throw ManagerError(
                .invalidOption,
                "filename must have at most \(maximumFileNameBytes) bytes, not \(name.utf8.count)."
            )
        }
        return name
    }

    private static func connections(_ number: UInt32) throws(ManagerError) -> UInt32 {
        let range = Contract.connections
        guard range.contains(number) else {
            throw ManagerError(
                .invalidOption,
                "connections must be \(range.lowerBound) to \(range.upperBound), not \(number)."
            )
        }
        return number
    }

    private static func speedLimit(_ limit: UInt64) throws(ManagerError) -> UInt64 {
        guard Contract.speedLimit.contains(limit) else {
            throw ManagerError(
                .invalidOption,
                "speed-limit must be at most \(Contract.speedLimit.upperBound) bytes per second."
            )
        }
        return limit
    }

    private static func size(_ size: UInt64) throws(ManagerError) -> UInt64 {
        guard size <= UInt64(Int64.max) else {
            throw ManagerError(
                .invalidOption,
                "expected-size must be at most \(Int64.max) bytes."
            )
        }
        return size
    }

    private static func retryFor(_ seconds: UInt64) throws(ManagerError) -> UInt64 {
        guard Contract.retryFor.contains(seconds) else {
            throw ManagerError(
                .invalidOption,
                "retry-for must be at most \(Contract.retryFor.upperBound) seconds."
            )
        }
        return seconds
    }

    private static func mirrors(_ mirrors: [String]) throws(ManagerError) -> [String] {
        guard mirrors.count <= Contract.maximumMirrors else {
            throw ManagerError(
                .limitExceeded,
                "mirrors may hold at most \(Contract.maximumMirrors) URLs, not \(mirrors.count)."
            )
        }
        return mirrors
    }

    private static func fieldValue(_ key: Key, _ text: String) throws(ManagerError) -> String {
        guard HeaderRules.isFieldValue(text) else {
            throw ManagerError(
                .invalidOption,
                "\(key.rawValue) must not contain control characters."
            )
        }
        guard text.utf8.count <= HeaderRules.maximumBytes else {
            throw ManagerError(
                .invalidOption,
                "\(key.rawValue) must have at most \(HeaderRules.maximumBytes) bytes."
            )
        }
        return text
    }

    private static func token(_ token: String) throws(ManagerError) -> String {
        guard tokenBytes.contains(token.utf8.count) else {
            throw ManagerError(
                token.isEmpty ? .invalidOption : .limitExceeded,
                "token must have \(tokenBytes.lowerBound) to \(tokenBytes.upperBound) bytes,"
                    + " not \(token.utf8.count)."
            )
        }
        return token
    }

    private static func word<Word: CaseIterable & RawRepresentable<String>>(
        _ key: Key,
        _ text: String
    ) throws(ManagerError) -> Word {
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: " or ")
            throw ManagerError(
                .invalidOption,
                "\(key.rawValue) must be \(words), not \(QuotedText(text))."
            )
        }
        return word
    }
}
