// SPDX-License-Identifier: Apache-2.0

package import DBus

extension AddOptions {
    /// Decodes the options of a call.
    ///
    /// The folder, the mirrors and the digest are not checked here, because only the service knows
    /// what it accepts.
    ///
    /// - Throws: `InvalidOption` or `LimitExceeded`. The text names the key and what would be
    ///   right, but never repeats the value.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        self.init()
        try Key.forEach(in: dictionary) { (key, value) throws(ManagerError) in
            try set(key, value)
        }
    }

    /// Takes one option.
    mutating func set(_ key: Key, _ value: Value) throws(ManagerError) {
        switch key {
        case .directory: directory = try key.read(value)
        case .filename: filename = try Self.fileName(key, try key.read(value))
        case .paused: paused = try key.read(value)
        case .priority: priority = try key.read(value)
        case .connections: connections = try key.number(value, within: Contract.connections)
        case .headers: headers = try HeaderRules.headers(value)
        case .referrer: referrer = try Self.fieldValue(key, try key.read(value))
        case .userAgent: userAgent = try Self.fieldValue(key, try key.read(value))
        case .cookies:
            cookies = try Self.fieldValue(
                key,
                try key.read(value),
                most: HeaderRules.maximumCookieBytes
            )
        case .token: token = try Self.token(key, try key.read(value))
        case .onExisting: onExisting = try key.word(value)
        case .speedLimit: speedLimit = try key.number(value, within: Contract.speedLimit)
        case .mirrors: mirrors = try Self.mirrors(key, try key.read(value))
        case .checksum: checksum = try key.read(value)
        case .whenDone: whenDone = try key.word(value)
        case .expectedSize: expectedSize = try key.number(value, within: 0...UInt64(Int64.max))
        case .retryFor: retryFor = try key.number(value, within: Contract.retryFor)
        }
    }
}

// The rules for values.
extension AddOptions {
    /// The longest file name of common file systems, in bytes.
    private static let maximumFileNameBytes = 255

    private static let tokenBytes = 1...255

    private static func fileName(_ key: Key, _ name: String) throws(ManagerError) -> String {
        let isElement =
            !name.isEmpty && !name.utf8.contains(UInt8(ascii: "/"))
            && name.utf8.first != UInt8(ascii: ".")
            && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard isElement else {
            throw key.refusal(
                "must be one name without slashes, a leading dot or control characters"
            )
        }
        let (count, most) = (name.utf8.count, maximumFileNameBytes)
        guard count <= most else {
            throw key.refusal("must have at most \(most) bytes, not \(count)")
        }
        return name
    }

    private static func mirrors(_ key: Key, _ urls: [String]) throws(ManagerError) -> [String] {
        let (count, most) = (urls.count, Contract.maximumMirrors)
        guard count <= most else {
            throw key.refusal("may hold at most \(most) URLs, not \(count)", .limitExceeded)
        }
        return urls
    }

    private static func fieldValue(
        _ key: Key,
        _ text: String,
        most: Int = HeaderRules.maximumBytes
    ) throws(ManagerError) -> String {
        guard HeaderRules.isFieldValue(text) else {
            throw key.refusal("must not contain control characters")
        }
        guard text.utf8.count <= most else { throw key.refusal("must have at most \(most) bytes") }
        return text
    }

    private static func token(_ key: Key, _ token: String) throws(ManagerError) -> String {
        let count = token.utf8.count
        guard tokenBytes.contains(count) else {
            throw key.refusal(
                "must have \(tokenBytes.lowerBound) to \(tokenBytes.upperBound) bytes, not \(count)",
                count == 0 ? .invalidOption : .limitExceeded
            )
        }
        return token
    }
}
