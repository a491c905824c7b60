// SPDX-License-Identifier: Apache-2.0

public import DBus

extension AddOptions {
    /// The options that the service accepts.
    ///
    /// An option of the contract that has no effect yet is missing here.
    static let table = OptionTable<AddOptions>([
        .init("directory", \.directory),
        .init("filename", \.filename, fileName),
        .init("paused", \.paused),
        .init("priority", \.priority),
        .init("connections", \.connections, within: Contract.connections),
        .init("headers", \.headers, read: HeaderRules.headers) { headers in
            headers.isEmpty ? nil : dictionary(of: headers)
        },
        .init("referrer", \.referrer, fieldValue(of: HeaderRules.maximumBytes)),
        .init("user-agent", \.userAgent, fieldValue(of: HeaderRules.maximumBytes)),
        .init("token", \.token, token),
        .init("on-existing", word: \.onExisting),
        .init("speed-limit", \.speedLimit, within: Contract.speedLimit),
        .init("mirrors", \.mirrors, read: mirrors) { $0.isEmpty ? nil : $0.busValue },
        .init("checksum", \.checksum),
        .init("expected-size", \.expectedSize, within: 0...UInt64(Int64.max)),
        .init("when-done", word: \.whenDone),
        .init("retry-for", \.retryFor, within: Contract.retryFor),
        .init("cookies", \.cookies, fieldValue(of: HeaderRules.maximumCookieBytes)),
    ])

    /// Decodes the options of a call.
    ///
    /// The folder, the mirrors and the digest are not checked here, because only the service knows
    /// what it accepts.
    ///
    /// - Throws: `InvalidOption` or `LimitExceeded`. The text names the key and what it allows, but
    ///   never repeats the value.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        self.init()
        try Self.table.read(dictionary, into: &self)
    }

    /// The given options as `a{sv}`.
    public var dictionary: [String: Value] { Self.table.dictionary(of: self) }

    /// The names of the given options that describe one file; they are refused with more than one
    /// URL.
    package var keysOfOneFile: [String] {
        let ofOneFile = ["filename", "checksum", "mirrors", "expected-size"]
        let rows = Self.table.rows.filter { ofOneFile.contains($0.name.text) }
        return rows.filter { $0.write(self) != nil }.map { $0.name.text }
    }

    private static func dictionary(of headers: [Header]) -> Value {
        .dictionary(
            key: String.signature,
            value: String.signature,
            headers.map { Value.Entry(key: .string($0.name), value: .string($0.value)) }
        )
    }
}

// The rules for values.
extension AddOptions {
    /// The longest file name of common file systems, 255 bytes, without room for ` (99)` and
    /// `.part`.
    private static let maximumFileNameBytes = 244

    private static let tokenBytes = 1...255

    private static func fileName(_ option: OptionName, _ name: String) throws(ManagerError)
        -> String
    {
        let isElement =
            !name.isEmpty && !name.utf8.contains(UInt8(ascii: "/"))
            && name.utf8.first != UInt8(ascii: ".")
            && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard isElement else {
            throw option.refusal(
                "must be one name without slashes, a leading dot or control characters"
            )
        }
        let (count, most) = (name.utf8.count, maximumFileNameBytes)
        guard count <= most else {
            throw option.refusal("must have at most \(most) bytes, not \(count)")
        }
        return name
    }

    private static func mirrors(
        _ name: OptionName,
        _ value: Value
    ) throws(ManagerError) -> [String] {
        let urls: [String] = try name.read(value)
        let (count, most) = (urls.count, Contract.maximumMirrors)
        guard count <= most else {
            throw name.refusal("may hold at most \(most) URLs, not \(count)", .limitExceeded)
        }
        guard urls.reduce(0, { $0 + $1.utf8.count }) <= Contract.maximumMirrorBytes else {
            throw name.refusal("may be at most 1 MiB long in all", .limitExceeded)
        }
        return urls
    }

    /// Returns the rule for the value of a header: no control characters, and at most this many
    /// bytes.
    private static func fieldValue(
        of most: Int
    ) -> @Sendable (OptionName, String) throws(ManagerError) -> String? {
        { name, text throws(ManagerError) in
            guard HeaderRules.isFieldValue(text) else {
                throw name.refusal("must not contain control characters")
            }
            guard text.utf8.count <= most else {
                throw name.refusal("must have at most \(most) bytes")
            }
            return text
        }
    }

    private static func token(_ name: OptionName, _ token: String) throws(ManagerError) -> String {
        let count = token.utf8.count
        guard tokenBytes.contains(count) else {
            throw name.refusal(
                "must have \(tokenBytes.lowerBound) to \(tokenBytes.upperBound) bytes, not \(count)",
                count == 0 ? .invalidOption : .limitExceeded
            )
        }
        return token
    }
}
