// SPDX-License-Identifier: Apache-2.0

public import DBus

/// A server's description of a file: the answer of the method Probe.
public struct ProbedFile: Hashable, Sendable {
    /// The name that a download of the file would get.
    public var name: String
    /// The length in bytes; nil if the server does not say.
    public var size: UInt64?
    /// The media type without parameters; empty if the server does not say.
    public var type: String
    /// Whether an interrupted download could continue where it stopped.
    public var resumable: Bool
    /// The URL after all redirects, without user and password.
    public var url: String

    /// Creates a description of a file.
    public init(name: String, size: UInt64?, type: String, resumable: Bool, url: String) {
        self.name = name
        self.size = size
        self.type = type
        self.resumable = resumable
        self.url = url
    }

    /// The description as `a{sv}`.
    public var dictionary: [String: Value] {
        [
            "name": .string(name), "size": .int64(size.map { Int64(clamping: $0) } ?? -1),
            "type": .string(type), "resumable": .boolean(resumable), "url": .string(url),
        ]
    }

    /// Reads a dictionary; keys that are missing or have another type count as unknown.
    public init(_ dictionary: [String: Value]) {
        name = dictionary.content(of: "name") ?? ""
        type = dictionary.content(of: "type") ?? ""
        url = dictionary.content(of: "url") ?? ""
        size = dictionary.content(of: "size").flatMap { (size: Int64) in UInt64(exactly: size) }
        resumable = dictionary.content(of: "resumable") ?? false
    }
}

extension [String: Value] {
    /// Returns the content under a key; nil where there is none, or one of another type.
    func content<Content: BusType>(of key: String) -> Content? {
        self[key].flatMap { try? Content(busValue: $0) }
    }
}
