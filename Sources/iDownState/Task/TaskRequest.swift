// SPDX-License-Identifier: Apache-2.0

/// A header field from the client, which is sent only to the origin of the task's URL.
package struct HeaderField: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// What to do if the name that the client asked for is taken.
package enum OnExisting: String, Sendable {
    /// Take the next free name: `file (1).iso`.
    case rename
    /// Refuse the download.
    case fail
}

/// What to do with the finished file in the user's session.
package enum WhenDone: String, Sendable {
    /// Open it with the application for its type.
    case open
    /// Show it in its folder.
    case reveal
}

/// What a client asked for.
///
/// It contains secrets: it is stored, but never announced.
package struct TaskRequest: Hashable, Sendable {
    /// The URL in normal form, user and password included unless ``keptLogins`` has them.
    package var url: String
    /// The folder, absolute, links resolved.
    package var directory: String
    /// The name that the client wants; nil leaves it to the server's answer.
    package var fileName: String?
    package var headers: [HeaderField] = []
    package var referrer: String?
    package var userAgent: String?
    /// The value of a Cookie field for the URL's scheme, host and port; nil once the task has
    /// ended, or its URL leads to another server.
    package var cookies: String?
    /// Whether it came from a private window: after completion only the file is kept.
    package var isPrivate = false
    /// The most connections at once, 1…16; nil uses the service's setting.
    package var connections: Int?
    package var onExisting = OnExisting.rename
    /// Further URLs of the same file, in normal form, at most 100.
    package var mirrors: [String] = []
    /// The key of the logins that were taken out of the URL and the mirrors; nil where none were.
    package var keptLogins: LoginKey?
    /// The digest that the file must have; nil where the client gave none.
    package var checksum: Checksum?
    /// The length that the file must have, in bytes; nil where the client gave none.
    package var expectedSize: Int64?
    /// How long the task is tried without progress, in seconds; 0 for no limit.
    package var retryFor = RetryPolicy.usualRetryFor
    /// Whether the list has hashes of the file's pieces.
    package var hasPieceHashes = false
    /// Whether netrc, stored logins and cookies may be used; false for downloads that any web page
    /// may have added.
    package var usesStoredLogins = true
    /// The reach of the host that listed the file in a metalink, as `SocketAddress.Reach` numbers
    /// it; nil where no metalink from another computer did.
    ///
    /// The file is not fetched from a host with a nearer reach.
    package var metalinkReach: Int?
    /// What to do with the finished file; nil does nothing.
    package var whenDone: WhenDone?
    /// The sandboxed application that asked, or the connection of a caller that cannot be
    /// identified; nil for the user's own programs.
    package var owner: String?
    /// The id of the application that asked; nil where it is unknown.
    package var addedBy: String?
}

extension TaskRequest {
    /// Makes a request without options.
    package init(url: String, directory: String) {
        self.init(url: url, directory: directory, fileName: nil)
    }
}

extension TaskRequest {
    /// Returns the digest that the bytes must have; nil where none is known.
    ///
    /// The client's digest overrides the server's, because servers give digests of another form of
    /// the file, or of an older one. If there are hashes of its pieces, the server's digest is
    /// ignored, too.
    package func expectedChecksum(of version: RemoteVersion) -> Checksum? {
        checksum ?? (hasPieceHashes ? nil : version.checksum)
    }

    /// Whether digests reveal a wrong byte of this version at the end, whatever its source.
    package func hasDigest(of version: RemoteVersion) -> Bool {
        hasPieceHashes || expectedChecksum(of: version) != nil
    }

    /// Returns how far a complete file of this version is verified.
    ///
    /// A file with digests counts as complete only after they matched.
    package func provenIntegrity(of version: RemoteVersion) -> Integrity {
        if hasDigest(of: version) { return .checksum }
        // A file of another size than the client expects is never complete.
        let isSizeKnown = version.total != nil || expectedSize == nil
        return isSizeKnown ? version.provenIntegrity : .length
    }
}
