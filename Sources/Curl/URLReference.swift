// SPDX-License-Identifier: Apache-2.0

import CCurl

/// An absolute URL with a host, in normal form.
///
/// It is read by the parser that also makes the connection (`curl_url`), so that the URL that was
/// checked is the one that is fetched. In normal form, blanks and non-ASCII characters are
/// percent-encoded, an international host is in its ASCII form, scheme and host are in small
/// letters, and a default port, dot segments and the fragment are removed. Two values are equal
/// when their normal forms are.
public struct URLReference: Hashable, Sendable {
    /// Scheme, host and port: secrets are never sent to another origin (RFC 6454).
    public struct Origin: Hashable, Sendable {
        /// The scheme, in small letters.
        public let scheme: String
        /// The host, in small letters, without the dot that may end an absolute name: `host.` is
        /// `host`.
        public let host: String
        /// The port to connect to; nil where the scheme is unknown and the URL has no port.
        public let port: Int?
    }

    /// The longest text, and the longest normal form, in bytes: a normal form can always be read
    /// again.
    public static let maximumLength = 64 * 1024

    /// The scheme, in small letters; any scheme with a valid form.
    public let scheme: String
    /// The user name, decoded; nil where the URL has none.
    public let user: String?
    /// The password, decoded; nil where the URL has none.
    public let password: String?
    /// The host, in small letters; an IPv6 address is in brackets, with its zone where it has one.
    public let host: String
    /// The port, 1 to 65535; nil where it is the scheme's default.
    public let port: Int?
    /// The port to connect to; nil where libcurl does not know the scheme and the URL has no port.
    public let effectivePort: Int?
    /// The path, starting with a slash and percent-encoded as given; an FTP path has no `;type=`.
    public let path: String
    /// The query without its question mark; nil where the URL has none.
    public let query: String?
    /// User and password as in the URL, with their `@`; empty where the URL has none.
    private let userInfo: String

    /// Reads a URL.
    ///
    /// - Parameter text: At most ``maximumLength`` bytes; blanks around it are ignored.
    /// - Throws: ``URLFailure``.
    public init(_ text: String) throws(URLFailure) { try self.init(text, faults: nil) }

    /// Reads a URL; a test can make the calls into libcurl fail.
    package init(_ text: String, faults: (@Sendable () -> Bool)?) throws(URLFailure) {
        let handle = try URLHandle(Funnel(faults: faults))
        try handle.set(Self.preparedText(text))
        try self.init(handle)
    }

    init(_ handle: URLHandle) throws(URLFailure) {
        guard let scheme = try handle.get(CURLUPART_SCHEME) else { throw .scheme }
        self.scheme = scheme
        host = try handle.normalizedHost()
        let name = try handle.get(CURLUPART_USER)
        let word = try handle.get(CURLUPART_PASSWORD)
        let hasLogin = name != nil || word != nil
        userInfo = hasLogin ? "\(name ?? "")\(word.map { ":\($0)" } ?? "")@" : ""
        user = try handle.get(CURLUPART_USER, flags: CURLU_URLDECODE)
        password = try handle.get(CURLUPART_PASSWORD, flags: CURLU_URLDECODE)
        path = Self.path(try handle.get(CURLUPART_PATH) ?? "/", scheme: scheme)
        query = try handle.get(CURLUPART_QUERY)
        let port = try handle.get(CURLUPART_PORT).map { Int($0) ?? 0 }
        if let port, !(1...65535).contains(port) { throw .port }
        // The scheme's default port, which libcurl gives only for a URL without a port.
        try handle.clear(CURLUPART_PORT)
        let usual = try handle.get(CURLUPART_PORT, flags: CURLU_DEFAULT_PORT).flatMap { Int($0) }
        self.port = port == usual ? nil : port
        effectivePort = port ?? usual
        // Encoded blanks and bytes beyond ASCII take three times the space.
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong }
    }

    /// The whole URL, with its secrets.
    public var text: String { base(with: userInfo) + path + querySuffix }

    /// The URL without user and password.
    public var withoutUserInfo: String { base(with: "") + path + querySuffix }

    /// The URL without user, password and query, which may be shown and logged.
    public var withoutUserInfoAndQuery: String { base(with: "") + path }

    /// The URL's scheme, host and port.
    public var origin: Origin {
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        return Origin(scheme: scheme, host: name, port: effectivePort)
    }

    private var querySuffix: String { query.map { "?\($0)" } ?? "" }

    private func base(with userInfo: String) -> String {
        "\(scheme)://\(userInfo)\(host)\(port.map { ":\($0)" } ?? "")"
    }
}

extension URLReference: CustomStringConvertible {
    /// The URL without its secrets, so that a careless log line reveals none.
    public var description: String { withoutUserInfoAndQuery }
}
