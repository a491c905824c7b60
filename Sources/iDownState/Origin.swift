// SPDX-License-Identifier: Apache-2.0

/// Scheme, host and port of a URL: the requests to which a server's Retry-After applies.
package struct Origin: Hashable, Sendable {
    /// For example `https://example.org:443`; the host is in small letters, without the dot that
    /// may end an absolute name.
    package let text: String
    /// For example `example.org`; an IPv6 address is in brackets.
    package let host: String
    /// Whether the host is this computer, which can be reached without a network.
    package let isLoopback: Bool

    /// - Parameters:
    ///   - scheme: in small letters.
    ///   - host: in small letters, an IPv6 address in brackets.
    ///   - port: nil where the URL gives none and the scheme has no default.
    package init(scheme: String, host: String, port: Int?) {
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        self.host = name
        text = "\(scheme)://\(name)" + (port.map { ":\($0)" } ?? "")
        isLoopback = Self.isLoopback(name)
    }

    /// Reads a URL in the normal form in which it is recorded; returns nil for other text.
    package init?(url: String) {
        guard let parts = URLParts(url) else { return nil }
        let scheme = String(parts.scheme)
        let address = parts.address.utf8
        var host = parts.address
        var port = Self.port(of: scheme)
        let end = address.lastIndex(of: UInt8(ascii: "]")) ?? address.startIndex
        if let colon = address[end...].lastIndex(of: UInt8(ascii: ":")) {
            host = parts.address[..<colon]
            port = Int(parts.address[address.index(after: colon)...])
        }
        guard !host.isEmpty else { return nil }
        self.init(scheme: scheme, host: String(host), port: port)
    }

    /// Returns the default port of a scheme (IANA's registry); nil for an unknown scheme.
    private static func port(of scheme: String) -> Int? {
        switch scheme {
        case "http": 80
        case "https": 443
        case "ftp": 21
        case "ftps": 990
        case "sftp": 22
        default: nil
        }
    }

    /// Whether a host is 127.0.0.0/8, ::1, an unspecified address, which also means this computer
    /// on Linux, or a name that RFC 6761 section 6.3 reserves for it.
    private static func isLoopback(_ host: String) -> Bool {
        if ["localhost", "0.0.0.0", "[::1]", "[::]"].contains(host) { return true }
        // For speed: every task's host is checked many times.
        guard host.hasPrefix("127.") else { return host.hasSuffix(".localhost") }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers.allSatisfy { UInt8($0) != nil }
    }
}

extension TaskRequest {
    /// The host of the first request; nil where the URL is not valid.
    package var origin: Origin? { Origin(url: url) }
}
