// SPDX-License-Identifier: Apache-2.0

/// A proxy and the login for it, which no server ever gets to see.
public struct ProxyServer: Hashable, Sendable {
    /// The kinds that libcurl knows, by the scheme in the proxy's URL.
    static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    /// Scheme, host and port, without the login.
    public let address: String
    /// Host and port; where no port is told, the one that its scheme has.
    public let authority: String
    /// Nil where it takes anybody.
    public let credentials: TransferRequest.Credentials?

    /// Reads `[scheme://][user[:password]@]host[:port]`, as curl(1) takes it: the scheme is `http`
    /// unless told, and the port 1080, with `https` 443.
    public init?(_ text: String) {
        var scheme = "http"
        var rest = text[...]
        if let separator = text.firstRange(of: "://") {
            scheme = text[..<separator.lowerBound].lowercased()
            rest = text[separator.upperBound...]
        }
        // Under a scheme that nobody knows the port stays as it was written.
        guard Self.schemes.contains(scheme), let url = try? URLReference("proxy://\(rest)") else {
            return nil
        }
        address = "\(scheme)://\(url.host)\(url.port.map { ":\($0)" } ?? "")"
        authority = "\(url.host):\(url.port ?? (scheme == "https" ? 443 : 1080))"
        credentials = url.user.map { .init(user: $0, password: url.password) }
    }
}

/// The way to a host.
public enum ProxyChoice: Hashable, Sendable {
    /// Without a proxy.
    case direct
    /// Through this one.
    case through(ProxyServer)
    /// Through one whose address cannot be read: there is no way then, rather than a direct one
    /// that nobody wanted.
    case unusable
}
