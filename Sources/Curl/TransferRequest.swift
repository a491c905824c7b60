// SPDX-License-Identifier: Apache-2.0

/// One file to get by HTTP, FTP or SFTP, the first two also over TLS.
///
/// Redirects are never followed, statuses are never errors, bodies are never decompressed: the
/// caller decides. Nothing is read from the process's environment or the user's files but what the
/// request names. Logins at HTTP hosts and proxies use Digest or Basic.
public struct TransferRequest: Sendable {
    /// The version of HTTP to ask for.
    public enum HTTPVersion: Sendable {
        /// HTTP/1.1, on a connection that no other transfer uses at the same time.
        case http1
        /// HTTP/2 where TLS offers it, with one shared connection per host; otherwise HTTP/1.1.
        case http2
    }

    /// Which existing connections may serve a request.
    ///
    /// A host's address that was looked up longer ago than a connection may be idle is looked up
    /// again.
    public enum ConnectionReuse: Hashable, Sendable {
        /// Any that was idle for no more than two minutes.
        case asUsual
        /// One that was used within this many seconds.
        case usedWithin(seconds: Int)
        /// None.
        case never
    }

    /// A login for HTTP (Digest and Basic), FTP and SFTP.
    public struct Credentials: Hashable, Sendable {
        /// The user's name, decoded.
        public var user: String
        /// The password, decoded; nil where another source gives it.
        public var password: String?

        /// Takes both as they are, without percent-encoding.
        public init(user: String, password: String?) {
            self.user = user
            self.password = password
        }
    }

    /// The URL to get; its user and password are used where ``credentials`` is nil.
    public var url: URLReference
    /// Further fields, in order; `Accept-Encoding: identity` is sent unless named here.
    ///
    /// A name is a token (RFC 9110 section 5.6.2), and a value has no control characters except tab;
    /// a field that cannot be sent is refused when the transfer begins.
    public var headers: [(name: String, value: String)] = []
    /// The offsets of the first and the last byte to ask for; nil asks for all.
    ///
    /// Both are 0 or more. Without a last one, all bytes from the first one on are asked for.
    public var range: (first: Int64, last: Int64?)?
    /// Whether an FTP transfer reads until the server ends the file, whatever the server's SIZE
    /// was; this shows whether the size was true.
    ///
    /// It works for a whole file, or a range to its end. A server that refuses to restart there
    /// ends the transfer with ``CurlCode/commandRefused``.
    public var readsToEnd = false
    /// The User-Agent; empty sends none.
    public var userAgent: String
    /// The login.
    ///
    /// Over TLS it is sent with the first request; by HTTP without TLS only when it is asked for,
    /// and to a server that accepts Digest only as a digest.
    public var credentials: Credentials?
    /// The longest time for name lookup, connecting and TLS handshake together.
    public var connectTimeout: Duration = .seconds(15)
    /// The longest time without a byte of the body, also before the first; 0 for no limit.
    ///
    /// In whole seconds, rounded up. Paused time does not count. libcurl checks the mean of the
    /// last five seconds, so silence after fast bytes is noticed up to six seconds late.
    public var silenceTimeout: Duration = .seconds(60)
    /// The version of HTTP to ask for.
    public var httpVersion = HTTPVersion.http1
    /// The size of the receive buffer, in bytes; 1 KiB to 10 MiB.
    ///
    /// Measured with 2 GiB over loopback into 256 KiB writes, compared with a bare loop of recv and
    /// pwrite: 16 KiB takes 1.45 times as long, 256 KiB 1.3 times, 512 KiB 1.08 times; more brings
    /// nothing. Memory is used only as far as a fast connection fills the buffer.
    public var receiveBufferSize = 512 * 1024
    /// Which existing connections may serve the request.
    public var reuse = ConnectionReuse.asUsual
    /// Decides about an address before a connection to it is made, and again before anything is
    /// sent on one, which may have been made for another request; false refuses the address.
    ///
    /// Runs on the pool's thread. With a proxy, it decides about the proxy's address.
    public var admits: (@Sendable (SocketAddress) -> Bool)?
    /// How to reach the host.
    ///
    /// FTP and SFTP pass an HTTP proxy through a tunnel (CONNECT), never as HTTP.
    public var proxy = ProxyChoice.direct
    /// The certification authorities that a TLS host is checked against.
    public var certificates = TrustedCertificates()
    /// The file in which a login is looked up by the host's name (netrc(5)), if neither
    /// ``credentials`` nor the URL has a password; nil looks nowhere.
    public var netrcFile: String?
    /// The file with cookies for the host, in Netscape format; read at the start and never written;
    /// nil sends none.
    public var cookieFile: String?
    /// Cookies for the host, `name=value; name=value`; nil sends none.
    ///
    /// They are sent together with those of ``cookieFile``; a Cookie field in ``headers`` replaces
    /// both.
    public var cookies: String?
    /// Which SFTP hosts are trusted, and how to sign in there.
    public var ssh = SSHAccess()
    /// Objects to keep while the request runs, for example those that its paths depend on.
    public var attachments: [any Sendable] = []

    /// Makes a plain GET of `url`, with defaults for the rest.
    public init(url: URLReference, userAgent: String = "") {
        self.url = url
        self.userAgent = userAgent
    }

    /// Why the request cannot be sent as it is; nil where it can.
    var objection: String? {
        if let field = headers.first(where: { !Self.canSend($0) }) {
            return "The header field \(field.name.isOneLine ? field.name : "") cannot be sent"
        }
        if url.isFolder { return "The URL names a folder instead of a file" }
        if url.scheme == "sftp", ssh.knownHostsFiles.isEmpty {
            return "No SFTP host can be trusted without a file of known hosts"
        }
        if proxy == .unusable { return "The proxy that is set is not a valid proxy" }
        if let cookies, !cookies.isOneLine { return "The cookies cannot be sent" }
        if !userAgent.isOneLine { return "The User-Agent cannot be sent" }
        if let credentials, (credentials.user + (credentials.password ?? "")).utf8.contains(0) {
            return "The login contains a zero byte"
        }
        return nil
    }
}
