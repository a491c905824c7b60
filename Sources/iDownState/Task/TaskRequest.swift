// SPDX-License-Identifier: Apache-2.0

/// A header field that the client gave, for the origin of its URL alone.
package struct HeaderField: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// What to do when the name that the client asked for is taken.
package enum OnExisting: String, Sendable {
    /// Take the next free name: `file (1).iso`.
    case rename
    /// Refuse.
    case fail
}

/// What is to be done with the finished file, for the user to see.
package enum WhenDone: String, Sendable {
    /// Open it with the program for its kind.
    case open
    /// Show it in its folder.
    case reveal
}

/// What a client asked for.
///
/// Secrets stand in it: it is stored, but never announced.
package struct TaskRequest: Hashable, Sendable {
    /// The URL in normal form, user and password included unless ``keptLogins`` has them.
    package var url: String
    /// The folder, absolute, links resolved.
    package var directory: String
    /// The name that the client wants; nil leaves it to the server's answer.
    package var fileName: String?
    package var headers: [HeaderField]
    package var referrer: String?
    package var userAgent: String?
    /// A Cookie field's value for the URL's own scheme, host and port; gone once the task has ended
    /// or its URL is another server's.
    package var cookies: String?
    /// Whether it came from a private window: nothing of it is kept once it is done.
    package var isPrivate: Bool
    /// The most connections at once, 1…16; nil takes the service's setting.
    package var connections: Int?
    package var onExisting: OnExisting
    /// Further URLs of the same file, in normal form, at most 100.
    package var mirrors: [String]
    /// Where the logins are kept that stood in the URL and in the mirrors; nil where they still do,
    /// or never did.
    package var keptLogins: LoginKey?
    /// The digest that the file is to have.
    package var checksum: Checksum?
    /// The length that the file is to have, in bytes.
    package var expectedSize: Int64?
    /// For how long it is tried without progress, in seconds; 0 for as long as it takes.
    package var retryFor: Int64
    /// Whether the list keeps hashes of the file's pieces for it.
    package var hasPieceHashes: Bool
    /// Whether netrc, stored logins and cookies may be used for it; not for what any web page
    /// can have added.
    package var usesStoredLogins: Bool
    /// How far the host was that listed the file in a metalink, as `SocketAddress.Reach` numbers it;
    /// nil where no metalink of another computer did.
    ///
    /// No nearer host is asked for the file.
    package var metalinkReach: Int?
    /// What the finished file is for; nil leaves it alone.
    package var whenDone: WhenDone?
    /// The application from a sandbox that asked, or the connection of one that cannot be told; nil
    /// for the user's own programs.
    package var owner: String?
    /// The id of the application that asked; nil where nobody knows.
    package var addedBy: String?

    package init(
        url: String,
        directory: String,
        fileName: String? = nil,
        headers: [HeaderField] = [],
        referrer: String? = nil,
        userAgent: String? = nil,
        cookies: String? = nil,
        isPrivate: Bool = false,
        connections: Int? = nil,
        onExisting: OnExisting = .rename,
        mirrors: [String] = [],
        keptLogins: LoginKey? = nil,
        checksum: Checksum? = nil,
        expectedSize: Int64? = nil,
        retryFor: Int64 = RetryPolicy.usualRetryFor,
        hasPieceHashes: Bool = false,
        usesStoredLogins: Bool = true,
        metalinkReach: Int? = nil,
        whenDone: WhenDone? = nil,
        owner: String? = nil,
        addedBy: String? = nil
    ) {
        self.url = url
        self.directory = directory
        self.fileName = fileName
        self.headers = headers
        self.referrer = referrer
        self.userAgent = userAgent
        self.cookies = cookies
        self.isPrivate = isPrivate
        self.connections = connections
        self.onExisting = onExisting
        self.mirrors = mirrors
        self.keptLogins = keptLogins
        self.checksum = checksum
        self.expectedSize = expectedSize
        self.retryFor = retryFor
        self.hasPieceHashes = hasPieceHashes
        self.usesStoredLogins = usesStoredLogins
        self.metalinkReach = metalinkReach
        self.whenDone = whenDone
        self.owner = owner
        self.addedBy = addedBy
    }
}

extension TaskRequest {
    /// What the bytes must come to; nil where nobody has said.
    ///
    /// What the client says is the last word: servers give digests of what they have stored in
    /// another form, or of an older file. So with the hashes of its pieces nobody else's counts.
    package func expectedChecksum(of version: RemoteVersion) -> Checksum? {
        checksum ?? (hasPieceHashes ? nil : version.checksum)
    }

    /// Whether a wrong byte of this version will show at the end, wherever it came from.
    package func hasDigest(of version: RemoteVersion) -> Bool {
        hasPieceHashes || expectedChecksum(of: version) != nil
    }

    /// What is known of a complete file of this version: it is complete only once it was held
    /// against its digests.
    package func provenIntegrity(of version: RemoteVersion) -> Integrity {
        hasDigest(of: version) ? .checksum : version.provenIntegrity
    }
}
