// SPDX-License-Identifier: Apache-2.0

/// An absolute URL with a host, in normal form.
///
/// Read by the parser that also makes the connection (`curl_url`), so that what was judged is
/// what is fetched. Blanks inside and non-ASCII are percent-encoded, an international host is in
/// its ASCII form, scheme and host are lowercase, a default port, dot segments and the fragment
/// are gone. Two values are equal when their normal forms are.
public struct URLReference: Sendable {
    /// The longest text that is read, and the longest normal form, in bytes: what was read can be
    /// read again.
    public static let maximumLength = 64 * 1024

    /// Lowercase, any scheme with a valid form.
    public let scheme: String
    /// Decoded; nil where the URL has none.
    public let user: String?
    /// Decoded; nil where the URL has none.
    public let password: String?
    /// Lowercase; an IPv6 address stands in brackets, with its zone where it has one.
    public let host: String
    /// The port where it is not the scheme's own, 1 to 65535.
    public let port: Int?
    /// The port to connect to; nil where the scheme is unknown to libcurl and none is given.
    public let effectivePort: Int?
    /// Starts with a slash; percent-encoded as given, without the type that may end FTP's.
    public let path: String
    /// Without the question mark; nil where the URL has none.
    public let query: String?
    /// User and password as they stand in the URL with their `@`; empty where it has none.
    private let userInfo: String

    /// Reads a URL.
    ///
    /// - Parameter text: At most ``maximumLength`` bytes; blanks around it are ignored.
    /// - Throws: ``URLFailure``.
    public init(_ text: String) throws(URLFailure) {
        try self.init(text, faults: nil)
    }

    /// Reads a URL, with calls into libcurl that a test can make fail.
    package init(_ text: String, faults: CurlFaultPlan?) throws(URLFailure) {
        let funnel = Funnel(plan: faults)
        let handle = try URLHandle(funnel)
        try handle.set(Self.preparedText(text))
        try self.init(handle)
    }

    init(_ handle: URLHandle) throws(URLFailure) {
        let parts = try handle.parts()
        scheme = parts.scheme
        user = parts.user
        password = parts.password
        host = parts.host
        port = parts.port == parts.defaultPort ? nil : parts.port
        effectivePort = parts.port ?? parts.defaultPort
        path = Self.path(parts.path, scheme: parts.scheme)
        query = parts.query
        userInfo = parts.userInfo
        // Blanks and what is beyond ASCII take three times the room.
        guard text.utf8.count <= Self.maximumLength else { throw .malformed(.tooLong) }
    }

    /// The whole URL, with its secrets.
    public var text: String { base(with: userInfo) + path + querySuffix }

    /// The URL without user and password.
    public var withoutUserInfo: String { base(with: "") + path + querySuffix }

    /// The URL without user, password and query: what may be shown and logged.
    public var withoutUserInfoAndQuery: String { base(with: "") + path }

    private var querySuffix: String { query.map { "?\($0)" } ?? "" }

    private func base(with userInfo: String) -> String {
        "\(scheme)://\(userInfo)\(host)\(port.map { ":\($0)" } ?? "")"
    }
}

extension URLReference: Hashable {
    /// Compares normal forms.
    public static func == (left: URLReference, right: URLReference) -> Bool {
        left.text == right.text
    }

    /// Hashes the normal form.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension URLReference: CustomStringConvertible {
    /// The URL without its secrets, so that a careless log line gives none away.
    public var description: String { withoutUserInfoAndQuery }
}
