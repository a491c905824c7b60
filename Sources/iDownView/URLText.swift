// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The parts of a typed URL that the command needs; the service's own parser decides whether a URL
/// is valid.
package struct URLText: Hashable, Sendable {
    /// In lower case.
    package let scheme: String
    /// In lower case and ASCII, without the port; an IPv6 address keeps its brackets.
    package let host: String
    /// The port; empty if there is none, or the usual one of the scheme.
    package let port: String
    /// From the first slash on, without query and fragment; at least `/`.
    package let path: String
    /// From the question mark on, without fragment; empty if there is none.
    package let query: String

    /// The same URL as the service shows it: blanks and other than ASCII percent-encoded in path and
    /// query.
    package var encoded: URLText {
        URLText(
            scheme: scheme,
            host: host,
            port: port,
            path: Self.encoded(Self.withoutDots(path)),
            query: Self.encoded(query)
        )
    }

    private init(scheme: String, host: String, port: String, path: String, query: String) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path
        self.query = query
    }

    /// Returns the URI of the file at an absolute path, in ASCII without blanks: RFC 8089.
    package static func ofFile(_ path: String) -> String {
        "file://"
            + encoded(path) { byte in
                let letter = byte | 0x20
                return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter)
                    || "0123456789-._~/".utf8.contains(byte)
            }
    }

    /// Percent-encodes all bytes but some (RFC 3986, section 2.1), by default all but visible ASCII.
    private static func encoded(
        _ text: String,
        allBut isKept: (UInt8) -> Bool = { (0x21...0x7E).contains($0) }
    ) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = text.utf8.flatMap { byte in
            isKept(byte)
                ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Splits a URL; nil for a text without scheme or host.
    package init?(_ text: String) {
        var text = text.drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        guard let end = text.firstRange(of: "://") else { return nil }
        let whole = text[end.upperBound...].prefix { $0 != "#" }
        let rest = whole.prefix { $0 != "?" }
        let authority = rest.prefix { $0 != "/" }
        let server = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard let (host, port) = Self.host(of: server) else { return nil }
        scheme = text[..<end.lowerBound].lowercased()
        self.host = Self.ascii(host)
        let number = UInt16(port)
        self.port = number == Self.usualPorts[scheme] ? "" : number.map { "\($0)" } ?? ""
        let path = rest[authority.endIndex...]
        self.path = path.isEmpty ? "/" : String(path)
        query = String(whole[rest.endIndex...])
    }

    /// The usual port of each scheme that the service downloads from.
    package static let usualPorts: [String: UInt16] = [
        "http": 80, "https": 443, "ftp": 21, "ftps": 990, "sftp": 22,
    ]

    /// Returns a host's name in ASCII (RFC 5891), as libcurl asks for it: idn2_lookup_u8(3).
    ///
    /// The library is there wherever libcurl is; without it, and for a name that has no such form,
    /// the name itself.
    private static func ascii(_ host: String) -> String {
        typealias Lookup =
            @convention(c) (
                UnsafePointer<CChar>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, CInt
            ) -> CInt
        guard !host.utf8.allSatisfy({ $0 < 0x80 }),
            let library = dlopen("libidn2.so.0", RTLD_LAZY | RTLD_LOCAL)
        else { return host }
        defer { dlclose(library) }
        guard let lookup = dlsym(library, "idn2_lookup_u8") else { return host }
        var name: UnsafeMutablePointer<CChar>?
        // IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL
        guard unsafeBitCast(lookup, to: Lookup.self)(host, &name, 1 | 8) == 0, let name
        else { return host }
        defer { free(name) }
        return String(cString: name)
    }

    /// Returns a path without `.` and `..` (RFC 3986, section 5.2.4).
    private static func withoutDots(_ path: String) -> String {
        guard path.contains("/.") else { return path }
        var parts: [Substring] = []
        let all = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for part in all where part != "." {
            if part != ".." { parts.append(part) } else { _ = parts.popLast() }
        }
        if [".", ".."].contains(all.last) { parts.append("") }
        return "/" + parts.joined(separator: "/")
    }

    /// Returns the text with `https://` before it; nil for a text that does not begin with a host.
    ///
    /// Such texts are `example.org/x.iso`, `localhost:8080/x` and `[::1]/x`.
    package static func completed(_ text: String) -> String? {
        guard !text.contains("://"), !text.contains(where: \.isWhitespace) else { return nil }
        let server = text.prefix { !"/?#".contains($0) }
        guard !server.contains("@"), let (host, _) = host(of: server),
            host.contains(".") || host == "localhost" || host.hasPrefix("[")
        else { return nil }
        return "https://" + text
    }

    /// Returns the text with its percent-encoded bytes decoded (RFC 3986, section 2.1).
    ///
    /// - Returns: Nil if two hex digits do not follow each `%`, or if the result is not UTF-8.
    package static func percentDecoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let digits = String(rest.prefix(2)),
                let value = UInt8(digits, radix: 16), !digits.hasPrefix("+")
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The parts of `host` or `host:port`; nil where one of them is not valid.
    private static func host(of server: Substring) -> (host: String, port: String)? {
        var (host, port) = (server, Substring())
        let bracket = server.lastIndex(of: "]") ?? server.startIndex
        if let colon = server[bracket...].lastIndex(of: ":") {
            port = server[server.index(after: colon)...]
            guard UInt16(port) != nil else { return nil }
            host = server[..<colon]
        }
        let isAddress = host.hasPrefix("[") && host.hasSuffix("]")
        let isName = host.allSatisfy { $0.isLetter || $0.isNumber || "-._".contains($0) }
        guard !host.isEmpty, isAddress || isName, !host.hasPrefix("."), !host.hasPrefix("-") else {
            return nil
        }
        return (host.lowercased(), String(port))
    }
}
