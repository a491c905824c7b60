// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The options of a download that a browser hands over, and what the browser knows of it.
public struct HandOverOptions: Hashable, Sendable {
    /// The options of the download; ``AddOptions/token`` is required.
    ///
    /// `directory`, `filename`, `whenDone` and `paused` are refused.
    public var download: AddOptions
    /// The status of the response that the browser got.
    public var status: UInt32?
    /// The length that it announced, in bytes; nil if it did not.
    public var size: UInt64?
    /// The text of its ETag header.
    public var entityTag: String?
    /// The text of its Last-Modified header.
    public var lastModified: String?
    /// The text of its Content-Type header.
    public var mimeType: String?
    /// The name that the browser would give the file; the service makes it safe.
    public var suggestedName: String?
    /// Host and port of the proxy that the browser goes through for the URL; nil where it goes
    /// through none, or does not know.
    public var proxy: String?
    /// Whether the download comes from a private window.
    public var isPrivate: Bool

    /// Creates options for a download with this token, of which the browser knows nothing yet.
    public init(token: String) {
        download = AddOptions()
        download.token = token
        isPrivate = false
    }
}

extension HandOverOptions {
    /// What the browser knows; the other options are those of ``AddOptions``.
    private static let table = OptionTable<HandOverOptions>([
        .init("status", \.status),
        .init("size", \.size, read: size) { $0.map { .int64(Int64(clamping: $0)) } },
        .init("etag", \.entityTag, given),
        .init("last-modified", \.lastModified, given),
        .init("mime", \.mimeType, given),
        .init("suggested-name", \.suggestedName, given),
        .init("proxy", \.proxy, given),
        .init("private", \.isPrivate, read: flag) { $0 ? true.busValue : nil },
    ])

    private static func flag(_ name: OptionName, _ value: Value) throws(ManagerError) -> Bool {
        try name.read(value)
    }

    private static func size(_ name: OptionName, _ value: Value) throws(ManagerError) -> UInt64? {
        // -1 is how browsers say that they do not know it.
        let number: Int64 = try name.read(value)
        return UInt64(exactly: try name.check(number, within: -1...Int64.max))
    }

    /// An empty text is how browsers say that there is none.
    private static func given(_: OptionName, _ text: String) -> String? {
        text.isEmpty ? nil : text
    }

    /// What a page must not choose.
    private static let refused = ["directory", "filename", "when-done", "paused"]

    /// Decodes the options of a call.
    ///
    /// - Throws: `InvalidOption` or `LimitExceeded`. The text names the key, and never the value.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        for key in Self.refused where dictionary[key] != nil {
            throw OptionName(key).refusal(
                "cannot be chosen for a download that a browser hands over"
            )
        }
        let names = Self.table.names
        let own = dictionary.filter { names.contains($0.key) }
        download = try AddOptions(dictionary.filter { own[$0.key] == nil })
        isPrivate = false
        guard download.token != nil else { throw OptionName("token").refusal("must be given") }
        try Self.table.read(own, into: &self)
    }

    /// The options as `a{sv}`.
    public var dictionary: [String: Value] {
        download.dictionary.merging(Self.table.dictionary(of: self)) { $1 }
    }
}
