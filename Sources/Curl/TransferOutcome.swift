// SPDX-License-Identifier: Apache-2.0

/// How a transfer ended and what is known of it.
public struct TransferOutcome: Hashable, Sendable {
    /// Why the key of an SFTP host is not trusted.
    public enum HostKeyDoubt: Hashable, Sendable {
        /// No key of the host is known.
        case unknown
        /// Another key of the host is known.
        case changed
        /// The key is one of ``SSHAccess/revokedKeys``.
        case revoked
    }

    /// ``CurlCode/ok``, or why it failed.
    public var result: CurlCode
    /// A description of the failure, on one line and without user and password; empty on success.
    public var message: String
    /// The last HTTP status, or the last FTP reply code; 0 where none came.
    public var status = 0
    /// The lines with which an FTP server refused the login, not to be shown: they may repeat it.
    public var loginRefusal = ""
    /// The address of the host, or of the proxy, as text; empty where there was no connection.
    public var primaryAddress = ""
    /// Whether it used FTP or SFTP.
    public var isFromFileServer = false
    /// Host and port of the proxy, whose address that is then; nil where none was asked.
    public var proxy: String?
    /// The system's error number of a failed connection; 0 where there is none.
    public var osError: Int32 = 0
    /// How many connections were made, for tests; 0 means that an existing one was used.
    package var openedConnections = 0
    /// Whether ``TransferRequest/admits`` refused an address.
    public var wasRefusedAddress = false
    /// The proxy's status for CONNECT; 0 where no proxy was asked.
    public var proxyStatus = 0
    /// Why the key of an SFTP host was not trusted; nil where it was, and where none was received.
    public var hostKeyDoubt: HostKeyDoubt?
    /// The time from the start to the first byte of the answer; 0 where none came.
    public var firstByteTime = Duration.zero

    /// Whether an FTP or SFTP server gave a reply that does not fit its command, and may belong to
    /// another one.
    public var isMisfit: Bool {
        guard isFromFileServer else { return false }
        switch result {
        case .weirdPassiveReply, .weirdPassiveForm: return true
        case .weirdServerReply: return status != 421
        // A reply that means success, although no file comes (RFC 959 section 4.2).
        case .couldNotRetrieve: return (200..<400).contains(status)
        default: return false
        }
    }

    /// Makes an outcome of which only the reason is known.
    package init(_ result: CurlCode, _ message: String) {
        self.result = result
        self.message = Self.presentable(message)
    }

    /// Returns one line without control characters, and without user and password in URLs.
    package static func presentable(_ text: String) -> String {
        let line = text.unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control ? " " : String(scalar)
        }
        let pieces = line.joined().split(separator: "//", omittingEmptySubsequences: false)
        let withoutUserInfo = pieces.dropFirst().map { piece in
            let authority = piece.prefix { !"/?# ".contains($0) }
            guard let at = authority.lastIndex(of: "@") else { return piece }
            return piece[piece.index(after: at)...]
        }
        return (pieces.prefix(1) + withoutUserInfo).joined(separator: "//")
    }
}
