// SPDX-License-Identifier: Apache-2.0

/// One file to get, as a value: by HTTP, FTP or SFTP, the first and the second also over TLS.
///
/// Redirects are never followed, statuses are never errors, bodies are never decompressed: the
/// caller judges. Nothing is taken from the process's environment or the user's files but what
/// the request names. HTTP hosts and proxies are signed in to by Digest or Basic.
public struct TransferRequest: Sendable {
    /// The version of HTTP to ask for.
    public enum HTTPVersion: Sendable {
        /// HTTP/1.1 on a connection that no other transfer shares at the same time.
        case http1
        /// HTTP/2 where TLS offers it, sharing one connection a host; else HTTP/1.1.
        case http2
    }

    /// Which of the connections that are open already may serve a request.
    public enum ConnectionReuse: Hashable, Sendable {
        /// Whichever is there and not idle for more than two minutes.
        case asUsual
        /// One that was used within so many seconds.
        case usedWithin(seconds: Int)
        /// None.
        case never
    }

    /// A login: for Digest and Basic of HTTP, for FTP and for SFTP.
    public struct Credentials: Hashable, Sendable {
        /// The user's name, decoded.
        public var user: String
        /// The password, decoded; nil leaves it to the other sources.
        public var password: String?

        /// Takes both as they are, not percent-encoded.
        public init(user: String, password: String?) {
            self.user = user
            self.password = password
        }
    }

    /// What to get; user and password in it are used where ``credentials`` is nil.
    public var url: URLReference
    /// Further fields, in order; `Accept-Encoding: identity` goes out unless named here.
    public var headers: [HeaderField] = []
    /// The bytes to ask for, `first-last` or `first-`; nil asks for all.
    public var range: String?
    /// By FTP: reads until the server ends the file, whatever it has said to SIZE, and learns so
    /// whether that was true.
    ///
    /// For all of a file, or a range that goes to its end; a server that refuses to restart there
    /// ends the transfer with ``CurlCode/commandRefused``.
    public var readsToEnd = false
    /// The User-Agent; none is sent where this is empty.
    public var userAgent: String
    /// The login: over TLS sent with the first request, by HTTP in clear once it is asked for, and
    /// to nobody who takes Digest in any other way.
    public var credentials: Credentials?
    /// The longest time for name lookup, connecting and the TLS handshake together.
    public var connectTimeout: Duration = .seconds(15)
    /// The longest time without a byte of the body, the first one included; 0 for no limit.
    ///
    /// Whole seconds, rounded up. Paused time does not count. libcurl looks at the mean of the
    /// last five seconds, so silence after a fast stretch is noticed up to six seconds late.
    public var silenceTimeout: Duration = .seconds(60)
    /// The version of HTTP to ask for.
    public var httpVersion = HTTPVersion.http1
    /// How much is read from the connection at once, in bytes; 1 KiB to 10 MiB.
    ///
    /// 2 GiB over loopback into 256 KiB writes, against a bare loop of recv and pwrite: 16 KiB takes
    /// 1.45 times as long, 256 KiB 1.3 times, 512 KiB 1.08 times; more brings nothing. Only what
    /// a fast connection fills is ever touched.
    public var receiveBufferSize = 512 * 1024
    /// Whether a connection may serve it that was made before.
    public var reuse = ConnectionReuse.asUsual
    /// Asked before a connection to an address is made, and again before anything is sent on one,
    /// which may have been made for another request; false refuses the address.
    ///
    /// Runs on the pool's thread. With a proxy it is asked for the proxy's address.
    public var admits: (@Sendable (SocketAddress) -> Bool)?
    /// The way to the host.
    ///
    /// FTP and SFTP pass an HTTP proxy through a tunnel (CONNECT), and never as HTTP.
    public var proxy = ProxyChoice.direct
    /// The authorities that a TLS host is held against.
    public var certificates = TrustedCertificates()
    /// The file in which a login is looked up by the host's name (netrc(5)), where neither
    /// ``credentials`` nor the URL have a password; nil looks nowhere.
    public var netrcFile: String?
    /// The file with cookies for the host, in Netscape's form; read at the start, never written;
    /// nil sends none.
    public var cookieFile: String?
    /// Cookies for the host, `name=value; name=value`; nil sends none.
    ///
    /// They stand beside those of ``cookieFile``; a Cookie field in ``headers`` stands alone.
    public var cookies: String?
    /// How an SFTP host is known and signed in to.
    public var ssh = SSHAccess()
    /// Lives as long as the request runs: what its paths lead to, for example.
    public var attachments: [any Sendable] = []

    /// A plain GET of `url`; all else has defaults.
    public init(url: URLReference, userAgent: String = "") {
        self.url = url
        self.userAgent = userAgent
    }

    /// Whether libcurl may send it over a connection on which another transfer runs.
    var mayShare: Bool { httpVersion == .http2 }

    /// Why the request cannot be sent as it is; nil where it can.
    var objection: String? {
        if let field = headers.first(where: { !$0.isSendable }) {
            return "The header field \(field.name.isOneLine ? field.name : "") cannot be sent"
        }
        if url.isFolder { return "The URL names a folder instead of a file" }
        if url.scheme == "sftp", ssh.knownHostsFile == nil {
            return "No SFTP host can be trusted without a file of known hosts"
        }
        if proxy == .unusable { return "The proxy in the settings is not a valid proxy" }
        if let cookies, !cookies.isOneLine { return "The cookies cannot be sent" }
        if !userAgent.isOneLine { return "The User-Agent cannot be sent" }
        if let range, !Self.isRange(range) { return "The range is neither first-last nor first-" }
        if let credentials, (credentials.user + (credentials.password ?? "")).utf8.contains(0) {
            return "The login contains a zero byte"
        }
        return nil
    }

    /// The first byte of the range and whether the range goes to the end; nil asks for all.
    var rangeStart: (offset: Int64, isOpen: Bool)? {
        guard let range, let offset = Int64(range.prefix { $0 != "-" }) else { return nil }
        return (offset, range.hasSuffix("-"))
    }

    private static func isRange(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = parts.first, let last = parts.last else { return false }
        let areDigits = (first + last).utf8.allSatisfy { (0x30...0x39).contains($0) }
        return areDigits && Int64(first) != nil && (last.isEmpty || Int64(last) != nil)
    }
}
