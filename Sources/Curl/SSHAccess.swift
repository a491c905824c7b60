// SPDX-License-Identifier: Apache-2.0

/// Which SFTP hosts are trusted, and how to sign in there.
public struct SSHAccess: Hashable, Sendable {
    /// One way to sign in.
    public enum Login: Hashable, Sendable {
        /// With a key from the agent at `SSH_AUTH_SOCK`.
        case agent
        /// With the private key in a file, which has no passphrase.
        case key(path: String)
        /// With the password of the request, of its URL or of its netrc file.
        case password
    }

    /// The file with the trusted keys of hosts, in the form of sshd(8); nil trusts no host.
    ///
    /// Keys are never added to it, and a host without a key in it is refused.
    public var knownHostsFile: String?
    /// The logins to try one after the other, each on its own connection.
    public var logins: [Login] = []
}
