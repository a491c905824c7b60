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
    private enum Key: String, OptionKey {
        case status, size, etag
        case lastModified = "last-modified"
        case mime
        case suggestedName = "suggested-name"
        case proxy
        case isPrivate = "private"
    }

    /// What a page must not choose.
    private static let refused: [AddOptions.Key] = [.directory, .filename, .whenDone, .paused]

    /// Decodes the options of a call.
    ///
    /// - Throws: `InvalidOption` or `LimitExceeded`. The text names the key, and never the value.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        for key in Self.refused where dictionary[key.rawValue] != nil {
            throw key.refusal("cannot be chosen for a download that a browser hands over")
        }
        let own = dictionary.filter { Key(rawValue: $0.key) != nil }
        download = try AddOptions(dictionary.filter { own[$0.key] == nil })
        isPrivate = false
        guard download.token != nil else {
            throw AddOptions.Key.token.refusal("must be given")
        }
        try Key.forEach(in: own) { (key, value) throws(ManagerError) in
            try set(key, value)
        }
    }

    private mutating func set(_ key: Key, _ value: Value) throws(ManagerError) {
        switch key {
        case .status: status = try key.read(value)
        case .size:
            // -1 is how browsers say that they do not know it.
            let number: Int64 = try key.number(value, within: -1...Int64.max)
            size = UInt64(exactly: number)
        case .etag: entityTag = Self.given(try key.read(value))
        case .lastModified: lastModified = Self.given(try key.read(value))
        case .mime: mimeType = Self.given(try key.read(value))
        case .suggestedName: suggestedName = Self.given(try key.read(value))
        case .proxy: proxy = Self.given(try key.read(value))
        case .isPrivate: isPrivate = try key.read(value)
        }
    }

    /// An empty text is how browsers say that there is none.
    private static func given(_ text: String) -> String? { text.isEmpty ? nil : text }

    /// The options as `a{sv}`.
    public var dictionary: [String: Value] {
        var dictionary = download.dictionary
        for key in Key.allCases { dictionary[key.rawValue] = value(of: key) }
        return dictionary
    }

    private func value(of key: Key) -> Value? {
        switch key {
        case .status: status?.busValue
        case .size: size.map { .int64(Int64(clamping: $0)) }
        case .etag: entityTag?.busValue
        case .lastModified: lastModified?.busValue
        case .mime: mimeType?.busValue
        case .suggestedName: suggestedName?.busValue
        case .proxy: proxy?.busValue
        case .isPrivate: isPrivate ? true.busValue : nil
        }
    }
}
