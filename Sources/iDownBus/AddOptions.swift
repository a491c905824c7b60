// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The options of a new download.
///
/// The service decides about options that are nil or empty.
public struct AddOptions: Hashable, Sendable {
    /// The folder, as an absolute path, created if missing; nil means DownloadDirectory.
    public var directory: String?
    /// The final name, one path element without a leading dot.
    ///
    /// Nil means the name that the server gives, or the last element of the URL.
    public var filename: String?
    /// Whether to add the task without starting it.
    public var paused: Bool?
    /// Tasks of higher priority start first; nil means 0.
    public var priority: Int32?
    /// The most connections at once, within ``Contract/connections``.
    public var connections: UInt32?
    /// The most bytes per second, within ``Contract/speedLimit``; 0 means no limit.
    public var speedLimit: UInt64?
    /// Request headers, at most 64.
    ///
    /// They are only sent to the URL's own scheme, host and port.
    public var headers: [Header] = []
    /// The page that the link is on, sent as Referer.
    public var referrer: String?
    /// The User-Agent header to send; nil means idown's own.
    public var userAgent: String?
    /// The value of the `Cookie` header for the URL's own scheme, host and port.
    ///
    /// The service forgets the cookies when the task has ended, or when its URL changes to another
    /// server's.
    public var cookies: String?
    /// A text of 1 to 255 bytes that makes the call repeatable: the same token always returns the
    /// same id, even after the task was removed.
    public var token: String?
    /// What to do if the name is taken; nil means ``OnExisting/rename``.
    public var onExisting: OnExisting?
    /// More URLs of the same file, at most ``Contract/maximumMirrors`` of together at most
    /// ``Contract/maximumMirrorBytes``.
    public var mirrors: [String] = []
    /// The digest that the file must have: `sha-256=<hex>`, or with `sha-1`, `sha-512` or `md5`.
    public var checksum: String?
    /// The length that the file must have, in bytes.
    public var expectedSize: UInt64?
    /// How long to keep trying without progress, in seconds and within ``Contract/retryFor``.
    ///
    /// 0 means without limit; nil means the setting `RetryFor`.
    public var retryFor: UInt64?
    /// What to do with the finished file; sandboxed callers may not set it.
    public var whenDone: WhenDone?

    /// Creates options that leave everything to the service.
    public init() {}

    /// What to do if the name is taken.
    public enum OnExisting: String, CaseIterable, Hashable, Sendable {
        /// Use the next free name, `name (1).ext`.
        case rename
        /// Refuse the download, or let it fail if the name is only known from the response.
        case fail
    }

    /// What to do with the finished file.
    public enum WhenDone: String, CaseIterable, Hashable, Sendable {
        /// Open it with the program for its type.
        case open
        /// Show it in its folder.
        case reveal
    }

    /// A request header.
    public struct Header: Hashable, Sendable {
        /// The name, an RFC 9110 token.
        public var name: String
        /// The value, without control characters; it may be a secret.
        public var value: String

        /// Creates a header; nothing is checked.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }
}

extension AddOptions {
    /// The options that the service accepts.
    static let table = OptionTable<AddOptions>([
        .init("directory", \.directory),
        .init("filename", \.filename),
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
        .init("checksum", \.checksum, fieldValue(of: 256)),
        .init("expected-size", \.expectedSize, within: 0...UInt64(Int64.max)),
        .init("when-done", word: \.whenDone),
        .init("retry-for", \.retryFor, within: Contract.retryFor),
        .init("cookies", \.cookies, fieldValue(of: HeaderRules.maximumCookieBytes)),
    ])

    /// Decodes the options of a call.
    ///
    /// The folder, the name, the mirrors and the digest are not checked here, because only the
    /// service knows what it accepts.
    ///
    /// - Throws: `InvalidOption` or `LimitExceeded`. The text names the key and what it allows, but
    ///   never repeats the value.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        try Self.table.read(dictionary, into: &self)
    }

    /// The given options as `a{sv}`.
    public var dictionary: [String: Value] { Self.table.dictionary(of: self) }

    /// Returns the name of an option in a call that describes one file; nil if there is none.
    ///
    /// An empty `mirrors` counts, which the decoded options no longer tell.
    package static func keyOfOneFile(in dictionary: [String: Value]) -> String? {
        table.names.first { dictionary[$0] != nil && namesOfOneFile.contains($0) }
    }

    /// The names of the given options that describe one file; they are refused with more than one
    /// URL.
    package var keysOfOneFile: [String] {
        Self.rowsOfOneFile.filter { $0.write(self) != nil }.map { $0.name.text }
    }

    private static let rowsOfOneFile = table.rows.filter { row in
        AddOptions.namesOfOneFile.contains(row.name.text)
    }

    /// The names of the options that describe one file.
    package static let namesOfOneFile: Set = ["filename", "checksum", "mirrors", "expected-size"]

    private static func dictionary(of headers: [Header]) -> Value {
        .dictionary(
            key: String.signature,
            value: String.signature,
            headers.map { Value.Entry(key: .string($0.name), value: .string($0.value)) }
        )
    }

    // MARK: The rules for values

    private static let tokenBytes = 1...255

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
            // First, because a text may have any length.
            guard text.utf8.count <= most else {
                throw name.refusal("must have at most \(most) bytes")
            }
            guard HeaderRules.isFieldValue(text) else {
                throw name.refusal("must not contain control characters")
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
