// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The options of SetOptions: the changes to a task.
public struct EditOptions: Hashable, Sendable {
    /// A fresh URL instead of an expired one, as in SetURL; nil keeps the URL.
    public var url: String?
    /// New values, with the meaning that they have for a new download.
    ///
    /// Values that are nil or empty stay unchanged. ``AddOptions/paused`` and ``AddOptions/token``
    /// are not sent.
    public var values = AddOptions()
    /// The values to remove from the task.
    public var cleared: Set<Clearable> = []

    /// Creates options that change nothing.
    public init() {}

    /// Creates what a call with these options means for a download that is in the list already;
    /// folder and name only tell which one is meant.
    package init(of options: AddOptions) {
        values = options
        values.directory = nil
        values.filename = nil
    }

    /// Returns the options for a download of the list; if cookies are the only header given, the
    /// download keeps its other headers, which no client can read.
    package func keepingHeaders(of task: TaskProperties) -> EditOptions {
        func isCookie(_ name: String) -> Bool { name.lowercased() == "cookie" }
        guard values.headers.count == 1, let header = values.headers.first, isCookie(header.name),
            !task.headerNames.allSatisfy(isCookie)
        else { return self }
        var edit = self
        edit.values.headers = []
        edit.values.cookies = header.value
        return edit
    }

    /// A value that may be removed; its raw value is the name of its option.
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
        /// The User-Agent header: idown sends its own again.
        case userAgent = "user-agent"
        /// The task's cookies.
        case cookies
        /// The most connections: the setting MaxConnectionsPerDownload applies again.
        case connections
        /// What to do with the finished file.
        case whenDone = "when-done"
    }
}

extension EditOptions {
    /// The options that the service accepts: `url`, and those of ``AddOptions`` with their types
    /// and rules, except `paused` and `token`, which only apply to a new download.
    static let table = OptionTable<EditOptions>(
        [.init("url", \.url)]
            + AddOptions.table.rows.filter { !["paused", "token"].contains($0.name.text) }
            .map { row in
                let clearable = Clearable(rawValue: row.name.text)
                return .init(
                    name: row.name,
                    read: { options, value throws(ManagerError) in
                        if let clearable, value == clearable.emptyValue {
                            options.cleared.insert(clearable)
                        } else if clearable == .connections {
                            // 0 was taken above, and the text of a refusal must allow it.
                            let number: UInt32 = try row.name.read(value)
                            options.values.connections =
                                try row.name.check(number, within: Contract.maxConnections)
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

    /// Decodes the options of a call, by the rules of ``AddOptions``.
    ///
    /// - Throws: `InvalidOption` or `LimitExceeded`. The text names the key and what it allows, but
    ///   never repeats the value.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        try Self.table.read(dictionary, into: &self)
    }

    /// The given options as `a{sv}`.
    public var dictionary: [String: Value] { Self.table.dictionary(of: self) }

    /// The names of the options that a completed task takes.
    package static let namesForCompleted: Set = [
        "directory", "filename", "priority", "checksum", "when-done",
    ]

    /// The names of the given options that describe one file, so that only one task can have them.
    ///
    /// Options that are removed are not among them, because any number of tasks can lose them.
    package var keysOfOneFile: [String] {
        let kept = dictionary.filter { $1 != Clearable(rawValue: $0)?.emptyValue }
        return Self.table.names.filter { name in
            kept[name] != nil && (name == "url" || AddOptions.namesOfOneFile.contains(name))
        }
    }
}

extension EditOptions.Clearable {
    /// The value that removes the option: its property has that value if nothing was given.
    fileprivate var emptyValue: Value {
        switch self {
        case .checksum, .referrer, .userAgent, .cookies, .whenDone: .string("")
        case .expectedSize: .uint64(0)
        case .connections: .uint32(0)
        case .mirrors: [String]().busValue
        case .headers: .dictionary(key: String.signature, value: String.signature, [])
        }
    }
}
