// SPDX-License-Identifier: Apache-2.0

/// A cookie file in Netscape's format, as browsers' add-ons export it and curl and wget read it.
///
/// A line is a cookie of seven fields with tabs between them: domain, whether subdomains get it,
/// path, whether only TLS may carry it, expiry in seconds since the epoch (0 for a session cookie),
/// name and value. Lines that start with `#` are comments, except `#HttpOnly_`, which precedes the
/// domain of a cookie that scripts may not read.
package struct CookieFile: Hashable, Sendable {
    private struct Cookie: Hashable {
        var domain: String
        var includesSubdomains: Bool
        var path: String
        var isSecure: Bool
        /// Nil for a session cookie.
        var expiry: UInt64?
        var name: String
        var value: String
    }

    private let cookies: [Cookie]

    /// A line that is not a cookie; no message may repeat it, because cookies are secrets.
    package struct BadLine: Error, Hashable {
        /// The number of the line, from 1 on.
        package let number: Int
    }

    /// Reads a file.
    ///
    /// - Throws: ``BadLine``.
    package init(_ text: String) throws(BadLine) {
        var cookies: [Cookie] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.endsLine)
        for (index, line) in lines.enumerated() {
            var line = line
            let isHTTPOnly = line.hasPrefix(Self.httpOnly)
            if isHTTPOnly { line = line.dropFirst(Self.httpOnly.count) }
            if !isHTTPOnly, line.hasPrefix("#") || line.allSatisfy(\.isWhitespace) { continue }
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            // Some programs leave out the tab before an empty value.
            guard (6...7).contains(fields.count), let expiry = Self.seconds(fields[4]),
                !fields[5].isEmpty
            else { throw BadLine(number: index + 1) }
            let domain = fields[0].lowercased()
            cookies.append(
                Cookie(
                    domain: domain.hasPrefix(".") ? String(domain.dropFirst()) : domain,
                    includesSubdomains: fields[1].uppercased() == "TRUE",
                    path: String(fields[2]),
                    isSecure: fields[3].uppercased() == "TRUE",
                    expiry: expiry == 0 ? nil : expiry,
                    name: String(fields[5]),
                    value: fields.count == 7 ? String(fields[6]) : ""
                )
            )
        }
        self.cookies = cookies
    }

    /// Reads a number of seconds; some programs write a fraction, which is left out.
    private static func seconds(_ text: Substring) -> UInt64? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ UInt64($0) != nil }) else { return nil }
        return parts.first.flatMap { UInt64($0) }
    }

    private static let httpOnly = "#HttpOnly_"

    /// Chooses the cookies for a URL (RFC 6265, section 5.4).
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - now: Seconds since the epoch; cookies that have expired by then are left out.
    /// - Returns: The value of the `Cookie` header; nil if no cookie matches the URL.
    package func header(for url: String, now: UInt64) -> String? {
        guard let parts = URLText(url) else { return nil }
        // An address has no subdomains (RFC 6265, section 5.1.3).
        let isAddress = parts.host.split(separator: ".").last?.allSatisfy(\.isWholeNumber) == true
        let sent = cookies.filter { cookie in
            let isForHost =
                parts.host == cookie.domain
                || cookie.includesSubdomains && !isAddress
                    && parts.host.hasSuffix("." + cookie.domain)
            let isForPath =
                parts.path == cookie.path
                || parts.path.hasPrefix(
                    cookie.path.hasSuffix("/") ? cookie.path : cookie.path + "/"
                )
            return isForHost && isForPath && (!cookie.isSecure || parts.scheme == "https")
                && cookie.expiry.map { $0 > now } ?? true
        }
        // Longer paths first; the sort keeps the order of the file among equals.
        let sorted = sent.enumerated().sorted {
            ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset)
        }
        guard !sorted.isEmpty else { return nil }
        return sorted.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
    }
}

extension Character {
    /// Whether it ends a line of a file; U+2028 and others of Unicode's may be part of a value.
    package var endsLine: Bool { ["\n", "\r\n", "\r"].contains(self) }
}
