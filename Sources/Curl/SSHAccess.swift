// SPDX-License-Identifier: Apache-2.0

/// How SFTP hosts are known and how to sign in there.
public struct SSHAccess: Hashable, Sendable {
    /// One way to sign in.
    public enum Login: Hashable, Sendable {
        /// With a key of the agent behind `SSH_AUTH_SOCK`.
        case agent
        /// With the private key in a file, which has no passphrase.
        case key(path: String)
        /// With the password of the request, of its URL or of its netrc file.
        case password
    }

    /// The keys of hosts that are trusted, in the form of sshd(8); nil trusts nobody.
    ///
    /// A key that is not there is never added, and its host is refused.
    public var knownHostsFile: String?
    /// Tried one after the other, each on a connection of its own.
    public var logins: [Login]

    /// Trusts nobody and has no login, unless told.
    public init(knownHostsFile: String? = nil, logins: [Login] = []) {
        self.knownHostsFile = knownHostsFile
        self.logins = logins
    }
}
