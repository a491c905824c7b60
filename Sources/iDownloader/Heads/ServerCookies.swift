// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// What the servers of one attempt have asked to be told again (RFC 6265).
///
/// Many give the file only to whoever comes back from a redirect with the cookie that it set. These
/// are no secrets of the user's, and end with the attempt. Each goes back to the host that set it
/// and to no other, whatever its Domain allows, and never in clear where it came under cover.
struct ServerCookies {
    fileprivate struct Cookie {
        let host: String
        let path: String
        /// Only for https.
        let isSecure: Bool
        let name: [UInt8]
        var value: [UInt8]

        var byteCount: Int { name.count + 1 + value.count }

        func isSame(as other: Cookie) -> Bool {
            (host, path, isSecure) == (other.host, other.path, other.isSecure)
                && name == other.name
        }
    }

    /// No more are kept, and none that is longer: what browsers keep of a host at least (RFC 6265
    /// section 6.1).
    private static let most = 50
    private static let longest = 4096
    /// What servers take in one line at least.
    private static let longestField = 8 << 10

    private var cookies: [Cookie] = []

    /// Keeps what a response sets, and forgets what it takes back.
    ///
    /// - Parameters:
    ///   - fields: those of the response.
    ///   - url: what was asked for.
    ///   - date: ours, for a response without one.
    mutating func take(_ fields: FieldList, from url: URLReference, at date: WallTime) {
        let values = fields.all("set-cookie")
        guard !values.isEmpty else { return }
        // The server's own where it has one, so that no clock of ours need be right.
        let now = fields.only("date").flatMap { HTTPDate.parse($0) } ?? date
        for field in values {
            guard let (cookie, isOver) = Self.cookie(field, from: url, at: now) else { continue }
            if let index = cookies.firstIndex(where: { $0.isSame(as: cookie) }) {
                if isOver {
                    cookies.remove(at: index)
                } else {
                    cookies[index].value = cookie.value
                }
            } else if !isOver, cookies.count < Self.most {
                cookies.append(cookie)
            }
        }
    }

    /// The Cookie field for a request; nil where it has none.
    func field(for url: URLReference) -> String? {
        var text: [UInt8] = []
        // RFC 6265 section 5.4: the longest paths first; sorting keeps the order among equals.
        let fitting = cookies.filter { $0.fits(url) }.sorted { $0.path.count > $1.path.count }
        for cookie in fitting where text.count + 2 + cookie.byteCount <= Self.longestField {
            if !text.isEmpty { text += "; ".utf8 }
            text += cookie.name + [UInt8(ascii: "=")] + cookie.value
        }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }

    // MARK: Set-Cookie (RFC 6265 section 5.2)

    private static func cookie(
        _ field: [UInt8],
        from url: URLReference,
        at now: WallTime
    ) -> (Cookie, isOver: Bool)? {
        let parts = field.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let (name, value) = pair(parts[0]), !name.isEmpty,
            name.count + value.count <= longest,
            // Anything else would have to be guessed at, or could not be sent.
            (name + value).allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        var path = defaultPath(of: url)
        var isSecure = url.scheme == "https"
        var age: Int64?
        var isExpired = false
        for part in parts.dropFirst() {
            let (attribute, value) = pair(part) ?? (part.trimmed, [])
            switch FieldText.repair(attribute).lowercased() {
            case "path":
                path = value.first == UInt8(ascii: "/") ? text(value) : defaultPath(of: url)
            case "secure":
                // RFC 6265bis section 5.7: what came in clear does not count as secure.
                guard isSecure else { return nil }
                isSecure = true
            case "domain":
                guard isDomain(text(value), of: url.host) else { return nil }
            case "max-age":
                age = value.decimal ?? (value.first == UInt8(ascii: "-") ? 0 : nil)
            case "expires":
                guard let end = HTTPDate.parse(Array(value)) else { continue }
                isExpired = end <= now
            default: continue
            }
        }
        let cookie = Cookie(
            host: url.host,
            path: path,
            isSecure: isSecure,
            name: Array(name),
            value: Array(value)
        )
        return (cookie, isOver: age.map { $0 == 0 } ?? isExpired)
    }

    private static func pair(
        _ part: ArraySlice<UInt8>
    ) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
        guard let sign = part.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        return (part[..<sign].trimmed, part[part.index(after: sign)...].trimmed)
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { FieldText.repair(bytes) }

    /// A server may speak for its own name and for those above it.
    private static func isDomain(_ domain: String, of host: String) -> Bool {
        let name = domain.hasPrefix(".") ? domain.dropFirst().lowercased() : domain.lowercased()
        return name.isEmpty || name == host || host.hasSuffix("." + name)
    }

    /// RFC 6265 section 5.1.4: the folder of the file that was asked for.
    private static func defaultPath(of url: URLReference) -> String {
        guard let slash = url.path.lastIndex(of: "/"), slash != url.path.startIndex else {
            return "/"
        }
        return String(url.path[..<slash])
    }
}

extension ServerCookies.Cookie {
    /// Whether a request may have it (RFC 6265 section 5.4).
    fileprivate func fits(_ url: URLReference) -> Bool {
        guard url.host == host, url.isHTTP, !isSecure || url.scheme == "https",
            url.path.hasPrefix(path)
        else { return false }
        return path.hasSuffix("/") || url.path.utf8.count == path.utf8.count
            || url.path.utf8.dropFirst(path.utf8.count).first == UInt8(ascii: "/")
    }
}
