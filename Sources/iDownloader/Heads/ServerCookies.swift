// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// The cookies that servers set during one attempt (RFC 6265).
///
/// Many servers send the file only if the request has the cookie that the redirect before set.
/// These cookies are not the user's and end with the attempt. Each is sent only to the host that
/// set it, whatever its Domain allows, and only over https if it was set over https.
struct ServerCookies {
    fileprivate struct Cookie {
        let host: String
        let path: String
        /// Whether the cookie is sent over https only.
        let isSecure: Bool
        let name: [UInt8]
        var value: [UInt8]

        var byteCount: Int { name.count + 1 + value.count }

        func isSame(as other: Cookie) -> Bool {
            (host, path, isSecure) == (other.host, other.path, other.isSecure) && name == other.name
        }
    }

    /// The most cookies kept, and the most bytes of each; browsers support at least as much (RFC
    /// 6265 section 6.1).
    private static let most = 50
    private static let longest = 4096
    /// The longest Cookie field in bytes, which all servers accept in one line.
    private static let longestField = 8 << 10

    private var cookies: [Cookie] = []

    /// Keeps the cookies that a response sets, and removes those that it expires.
    ///
    /// - Parameters:
    ///   - fields: the fields of the response.
    ///   - url: the URL of the request.
    ///   - date: this computer's time, for a response without Date.
    mutating func take(_ fields: FieldList, from url: URLReference, at date: WallTime) {
        let values = fields.all("set-cookie")
        guard !values.isEmpty else { return }
        // The server's Date is preferred because this computer's clock may be wrong.
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

    /// Returns the Cookie field for a request; nil if no cookie applies.
    func field(for url: URLReference) -> String? { field(of: fitting(url)) }

    /// Returns a Cookie field that the task gives with the cookies for a request.
    ///
    /// A cookie that a server has set anew takes the place of the given one with its name (RFC 6265
    /// section 5.3). One that it has expired stays: the field does not tell whose it is.
    func added(to given: String, for url: URLReference) -> String {
        let new = fitting(url)
        guard let field = field(of: new) else { return given }
        let names = Set(new.map(\.name))
        let pairs = Array(given.utf8).split(separator: UInt8(ascii: ";")).map(\.trimmed)
        let others = pairs.filter { pair in
            !names.contains(Array(pair.prefix { $0 != UInt8(ascii: "=") }.trimmed))
        }
        let texts = others.map { String(decoding: $0, as: UTF8.self) }
        return (texts + [field]).joined(separator: "; ")
    }

    private func fitting(_ url: URLReference) -> [Cookie] {
        // RFC 6265 section 5.4: the longest paths come first; the sort is stable.
        cookies.filter { $0.fits(url) }.sorted { $0.path.count > $1.path.count }
    }

    private func field(of fitting: [Cookie]) -> String? {
        var text: [UInt8] = []
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
            // Other bytes have no known encoding, or could not be sent.
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
                // RFC 6265bis section 5.7: a Secure cookie that came without TLS is ignored.
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

    private static func pair(_ part: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
        guard let sign = part.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        return (part[..<sign].trimmed, part[part.index(after: sign)...].trimmed)
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { FieldText.repair(bytes) }

    /// Whether a host may set a cookie for the domain: its own name, or one above it.
    private static func isDomain(_ domain: String, of host: String) -> Bool {
        let name = domain.hasPrefix(".") ? domain.dropFirst().lowercased() : domain.lowercased()
        return name.isEmpty || name == host || host.hasSuffix("." + name)
    }

    /// RFC 6265 section 5.1.4: returns the URL path up to its last slash.
    private static func defaultPath(of url: URLReference) -> String {
        guard let slash = url.path.lastIndex(of: "/"), slash != url.path.startIndex else {
            return "/"
        }
        return String(url.path[..<slash])
    }
}

extension ServerCookies.Cookie {
    /// Whether a request gets the cookie (RFC 6265 section 5.4).
    fileprivate func fits(_ url: URLReference) -> Bool {
        guard url.host == host, url.isHTTP, !isSecure || url.scheme == "https",
            url.path.hasPrefix(path)
        else { return false }
        return path.hasSuffix("/") || url.path.utf8.count == path.utf8.count
            || url.path.utf8.dropFirst(path.utf8.count).first == UInt8(ascii: "/")
    }
}
