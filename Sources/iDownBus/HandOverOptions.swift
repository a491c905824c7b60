// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The options of a download that a browser hands over, and the browser's knowledge of it.
public struct HandOverOptions: Hashable, Sendable {
    /// The options of the download; ``AddOptions/token`` is required.
    ///
    /// `directory`, `filename`, `whenDone` and `paused` are refused.
    public var download = AddOptions()
    /// The status of the response that the browser got.
    public var status: UInt32?
    /// The length that the response announced, in bytes; nil if it announced none.
    public var size: UInt64?
    /// The response's ETag header.
    public var entityTag: String?
    /// The response's Last-Modified header.
    public var lastModified: String?
    /// The response's Content-Type header.
    public var mimeType: String?
    /// The file name that the browser would use; the service makes it safe.
    public var suggestedName: String?
    /// The host and port of the browser's proxy for the URL; nil if it uses none, or does not know.
    public var proxy: String?
    /// Whether the download comes from a private window.
    public var isPrivate = false

    /// Creates options with a token, without anything from the browser.
    public init(token: String) { download.token = token }
}

extension HandOverOptions {
    private static let table = OptionTable<HandOverOptions>(
        AddOptions.table.rows.filter { !refused.contains($0.name.text) }.map { row in
            .init(
                name: row.name,
                read: { options, value throws(ManagerError) in
                    try row.read(&options.download, value)
                },
                write: { row.write($0.download) }
            )
        } + own
    )

    /// The options that the browser adds to those of ``AddOptions``.
    private static let own: [OptionTable<HandOverOptions>.Row] = [
        .init("status", \.status),
        .init("size", \.size, read: size) { $0.map { .int64(Int64(clamping: $0)) } },
        .init("etag", \.entityTag, field),
        .init("last-modified", \.lastModified, field),
        .init("mime", \.mimeType, field),
        // What is made of it is shorter in any case.
        .init("suggested-name", \.suggestedName) { _, name in
            given(String(decoding: name.utf8.prefix(HeaderRules.maximumBytes), as: UTF8.self))
        },
        .init("proxy", \.proxy, field),
        .init("private", \.isPrivate, read: flag) { $0 ? true.busValue : nil },
    ]

    private static func flag(_ name: OptionName, _ value: Value) throws(ManagerError) -> Bool {
        try name.read(value)
    }

    private static func size(_ name: OptionName, _ value: Value) throws(ManagerError) -> UInt64? {
        // Browsers send -1 for an unknown size.
        let number: Int64 = try name.read(value)
        return UInt64(exactly: try name.check(number, within: -1...Int64.max))
    }

    /// Returns a text; nil for an empty one, which browsers send for a missing header.
    private static func given(_ text: String) -> String? { text.isEmpty ? nil : text }

    private static func field(_ name: OptionName, _ text: String) throws(ManagerError) -> String? {
        let most = HeaderRules.maximumBytes
        guard text.utf8.count <= most else { throw name.refusal("must have at most \(most) bytes") }
        return given(text)
    }

    /// The options that a web page must not choose.
    private static let refused = ["directory", "filename", "when-done", "paused"]

    /// Decodes the options of a call.
    ///
    /// - Throws: `InvalidOption` or `LimitExceeded`. The text names the key, but never repeats the
    ///   value.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        for key in Self.refused where dictionary[key] != nil {
            throw OptionName(key).refusal(
                "cannot be chosen for a download that a browser hands over"
            )
        }
        try Self.table.read(dictionary, into: &self)
        guard download.token != nil else { throw OptionName("token").refusal("must be given") }
    }

    /// The options as `a{sv}`.
    public var dictionary: [String: Value] {
        download.dictionary.merging(Self.table.dictionary(of: self)) { $1 }
    }
}
