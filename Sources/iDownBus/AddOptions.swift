// SPDX-License-Identifier: Apache-2.0

/// The options of AddURLWithOptions and AddURLs; what is nil is left to the service.
public struct AddOptions: Hashable, Sendable {
    /// The folder, absolute; made if it is missing.
    public var directory: String?
    /// The final name: one path element without a leading dot.
    public var filename: String?
    /// Add without starting.
    public var paused: Bool?
    /// Higher first; 0 if none is given.
    public var priority: Int32?
    /// The most connections at once, within ``Contract/connections``.
    public var connections: UInt32?
    /// The most bytes a second, within ``Contract/speedLimit``; 0 for no limit.
    public var speedLimit: UInt64?
    /// Request headers, sent to the URL's own scheme, host and port only.
    public var headers: [Header]
    /// The page that the link stood on.
    public var referrer: String?
    /// In place of the service's own.
    public var userAgent: String?
    /// 1 to 255 bytes; the same token gives the same id for ever.
    public var token: String?
    /// What to do when the name is taken.
    public var onExisting: OnExisting?
    /// Further URLs of the same file, at most ``Contract/maximumMirrors``.
    public var mirrors: [String]
    /// The digest that the file is to have: `sha-256=<hex>`, also `sha-1`, `sha-512` and `md5`.
    public var checksum: String?
    /// The length that the file is to have, in bytes.
    public var expectedSize: UInt64?
    /// What is to be done with the finished file; not for callers from a sandbox.
    public var whenDone: WhenDone?

    /// No options at all.
    public init() {
        headers = []
        mirrors = []
    }

    /// What to do when the name is taken.
    public enum OnExisting: String, CaseIterable, Hashable, Sendable {
        /// Take the next free name, `name (1).ext`.
        case rename
        /// Refuse.
        case fail
    }

    /// What is to be done with the finished file.
    public enum WhenDone: String, CaseIterable, Hashable, Sendable {
        /// Open it with the program for its kind.
        case open
        /// Show it in its folder.
        case reveal
    }

    /// A request header.
    public struct Header: Hashable, Sendable {
        /// An RFC 9110 token.
        public var name: String
        /// Without control characters; it may be a secret.
        public var value: String

        /// Puts a name and its value together; nothing is checked.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }
}

extension AddOptions {
    /// The keys given that say something of one file, and so go with one URL only.
    var keysOfOneFile: [Key] {
        var keys: [Key] = []
        if filename != nil { keys.append(.filename) }
        if checksum != nil { keys.append(.checksum) }
        if !mirrors.isEmpty { keys.append(.mirrors) }
        if expectedSize != nil { keys.append(.expectedSize) }
        return keys
    }

    /// The keys that the service takes.
    ///
    /// A key of the contract that has no effect yet is not among them.
    enum Key: String, CaseIterable {
        case directory
        case filename
        case paused
        case priority
        case connections
        case headers
        case referrer
        case userAgent = "user-agent"
        case token
        case onExisting = "on-existing"
        case speedLimit = "speed-limit"
        case mirrors
        case checksum
        case expectedSize = "expected-size"
        case whenDone = "when-done"
    }
}
