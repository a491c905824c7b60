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
}

extension EditOptions {
    /// The options that the service accepts: beside `url` those of ``AddOptions``, which knows their
    /// types and rules, but for the two that make sense for a new download alone.
    static let table = OptionTable<EditOptions>(
        [.init("url", \.url)]
            + AddOptions.table.rows.filter { !["paused", "token"].contains($0.name.text) }
            .map { row in
                let clearable = Clearable(rawValue: row.name.text)
                return .init(
                    name: row.name,
                    read: { options, value throws(ManagerError) in
                        if let clearable, clearable.isCleared(by: value) {
                            options.cleared.insert(clearable)
                        } else {
                            try row.read(&options.values, value)
                        }
                    },
                    write: { options in
                        clearable.flatMap { options.cleared.contains($0) ? $0.emptyValue : nil }
                            ?? row.write(options.values)
                    }
                )
            }
    )

    /// Decodes the options of a call; every rule is that of ``AddOptions``.
    ///
    /// - Throws: `InvalidOption` or `LimitExceeded`. The text names the key and what would be
    ///   right, but never repeats the value.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        self.init()
        try Self.table.read(dictionary, into: &self)
    }

    /// The given options as `a{sv}`.
    public var dictionary: [String: Value] { Self.table.dictionary(of: self) }
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
