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

    /// The files with the trusted keys of hosts, in the form of sshd(8); none trusts no host.
    ///
    /// libcurl asks a host only for a key of the kind in the first line that may be of the host. If
    /// the host has none of that kind, the next file is tried, on a new connection. Keys are never
    /// added to a file, and a host without a key in it is refused.
    public var knownHostsFiles: [String] = []
    /// The keys, in Base64, that no host is trusted by, although they are in such a file.
    public var revokedKeys: Set<String> = []
    /// The logins to try one after the other, each on its own connection.
    public var logins: [Login] = []
}
