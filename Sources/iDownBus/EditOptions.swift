// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The options of SetOptions: what is to be different about a task.
public struct EditOptions: Hashable, Sendable {
    /// A fresh link in place of one that expired, as in SetURL; nil keeps the URL.
    public var url: String?
    /// New values, with the meaning that they have for a new download.
    ///
    /// What is nil or empty stays as it is. ``AddOptions/paused`` and ``AddOptions/token`` are not
    /// sent.
    public var values = AddOptions()
    /// Values that are taken away.
    public var cleared: Set<Clearable> = []

    /// Creates options that change nothing.
    public init() {}

    /// A value that may be taken away, by the name of its option.
    public enum Clearable: String, CaseIterable, Hashable, Sendable {
        /// The digest that the file must have.
        case checksum
        /// The length that the file must have.
        case expectedSize = "expected-size"
        /// All mirrors.
        case mirrors
        /// All request headers.
        case headers
        /// The page that the link is on.
        case referrer
        /// The User-Agent header: idown sends its own.
        case userAgent = "user-agent"
        /// The cookies that the task was given.
        case cookies
        /// The most connections: the setting MaxConnectionsPerDownload counts.
        case connections
        /// What to do with the finished file.
        case whenDone = "when-done"
    }

    /// The keys that the service accepts.
    ///
    /// Except for `url`, each is a key of ``AddOptions``, which knows its type and its rules.
    enum Key: String, OptionKey {
        case url
        case directory
        case filename
        case checksum
        case expectedSize = "expected-size"
        case mirrors
        case headers
        case referrer
        case userAgent = "user-agent"
        case cookies
        case connections
        case speedLimit = "speed-limit"
        case priority
        case whenDone = "when-done"
        case onExisting = "on-existing"
        case retryFor = "retry-for"
    }
}

extension EditOptions {
    /// Decodes the options of a call; every rule is that of ``AddOptions``.
    ///
    /// - Throws: `InvalidOption` or `LimitExceeded`. The text names the key and what would be
    ///   right, but never repeats the value.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        self.init()
        try Key.forEach(in: dictionary) { (key, value) throws(ManagerError) in
            if let clearable = Clearable(rawValue: key.rawValue), clearable.isCleared(by: value) {
                cleared.insert(clearable)
            } else if let key = AddOptions.Key(rawValue: key.rawValue) {
                try values.set(key, value)
            } else {
                url = try key.read(value)
            }
        }
    }

    /// The given options as `a{sv}`.
    public var dictionary: [String: Value] {
        var dictionary = values.dictionary.filter { Key(rawValue: $0.key) != nil }
        dictionary[Key.url.rawValue] = url?.busValue
        for clearable in cleared { dictionary[clearable.rawValue] = clearable.emptyValue }
        return dictionary
    }
}

extension EditOptions.Clearable {
    /// The value that takes it away: what its property reads where nothing was given.
    fileprivate var emptyValue: Value {
        switch self {
        case .checksum, .referrer, .userAgent, .cookies, .whenDone: .string("")
        case .expectedSize: .uint64(0)
        case .connections: .uint32(0)
        case .mirrors: [String]().busValue
        case .headers: .dictionary(key: String.signature, value: String.signature, [])
        }
    }

    fileprivate func isCleared(by value: Value) -> Bool { value == emptyValue }
}
