// SPDX-License-Identifier: Apache-2.0

/// A proxy and the login for it, which is never sent to a server.
public struct ProxyServer: Hashable, Sendable {
    /// The kinds of proxies that libcurl supports, by the scheme in the proxy's URL.
    static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    /// Scheme, host and port, without the login.
    public let address: String
    /// Host and port; without a given port, that of the proxy's scheme.
    public let authority: String
    /// The login; nil where the proxy needs none.
    public let credentials: TransferRequest.Credentials?

    /// Reads `[scheme://][user[:password]@]host[:port]`, like curl(1).
    ///
    /// The default scheme is `http`, the default port 1080, with `https` 443. `socks`, which desktops
    /// set in the environment, means `socks4`.
    public init?(_ text: String) {
        var scheme = "http"
        var rest = text[...]
        if let separator = text.firstRange(of: "://") {
            scheme = text[..<separator.lowerBound].lowercased()
            rest = text[separator.upperBound...]
            if scheme == "socks" { scheme = "socks4" }
        }
        // With a scheme that libcurl does not know, the parser keeps the port as it was written.
        guard Self.schemes.contains(scheme), let url = try? URLReference("proxy://\(rest)") else {
            return nil
        }
        address = "\(scheme)://\(url.host)\(url.port.map { ":\($0)" } ?? "")"
        authority = "\(url.host):\(url.port ?? (scheme == "https" ? 443 : 1080))"
        credentials = url.user.map { .init(user: $0, password: url.password) }
    }
}

/// How to reach a host.
public enum ProxyChoice: Hashable, Sendable {
    /// Without a proxy.
    case direct
    /// Through this one.
    case through(ProxyServer)
    /// Through a proxy whose address cannot be read: the request is refused, because the user did
    /// not want a direct connection.
    case unusable

    /// The proxy; nil where none can be asked.
    public var server: ProxyServer? {
        guard case .through(let server) = self else { return nil }
        return server
    }
}
