// SPDX-License-Identifier: Apache-2.0

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
    public var headers: [Header]
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
    public var mirrors: [String]
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
    public init() {
        headers = []
        mirrors = []
    }

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
