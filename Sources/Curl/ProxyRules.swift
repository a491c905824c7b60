// SPDX-License-Identifier: Apache-2.0

/// Decides which proxy serves which URL.
///
/// libcurl could decide this but would not tell the result. A caller that checks the addresses of
/// hosts must know whether it will see them.
public struct ProxyRules: Hashable, Sendable {
    /// The proxies by scheme, as text; ``fallback`` serves the other schemes.
    private var texts: [String: String] = [:]
    private var fallback: String?
    private var exceptions = ProxyExceptions("")

    /// Uses no proxy.
    public init() {}

    /// Uses one proxy for every host but the exceptions.
    ///
    /// - Parameters:
    ///   - proxy: in the form that ``ProxyServer/init(_:)`` reads.
    ///   - exceptions: in the form of `no_proxy`.
    public init(proxy: String, exceptions: String) {
        fallback = proxy
        self.exceptions = ProxyExceptions(exceptions)
    }

    /// Reads the user's environment, as libcurl does (libcurl-env(3)).
    ///
    /// `HTTP_PROXY` in capitals is ignored, because a client of a CGI program could set it.
    ///
    /// - Parameter variable: returns a variable's value; nil where it is not set.
    public init(environment variable: (String) -> String?) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap(variable).first { !$0.isEmpty }
        }
        for scheme in URLReference.servedSchemes {
            let name = "\(scheme)_proxy"
            texts[scheme] = scheme == "http" ? value(name) : value(name, name.uppercased())
        }
        fallback = value("all_proxy", "ALL_PROXY")
        exceptions = ProxyExceptions(value("no_proxy", "NO_PROXY") ?? "")
    }

    /// Whether a proxy serves the hosts of HTTP and HTTPS, but for single exceptions.
    public var serveWeb: Bool {
        !exceptions.areAll && ["http", "https"].allSatisfy { (texts[$0] ?? fallback) != nil }
    }

    /// Returns how to reach the URL's host.
    public func choice(for url: URLReference) -> ProxyChoice {
        guard let text = texts[url.scheme] ?? fallback, !exceptions.contain(url.host) else {
            return .direct
        }
        return ProxyServer(text).map { .through($0) } ?? .unusable
    }
}

/// The hosts that are reached without a proxy: the value of `no_proxy`.
struct ProxyExceptions: Hashable, Sendable {
    private let entries: [Substring]

    /// Reads entries between commas and blanks: names, which include their subdomains, addresses,
    /// networks like `10.0.0.0/8`, or a lone `*` for every host.
    init(_ text: String) {
        entries = text.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
    }

    /// Whether every host is reached without a proxy.
    var areAll: Bool { entries == ["*"] }

    /// Whether the host, in the form of ``URLReference/host``, is reached without a proxy.
    func contain(_ host: String) -> Bool {
        if areAll { return true }
        let bare = host.hasPrefix("[") ? String(host.dropFirst().prefix { $0 != "]" }) : host
        if let address = SocketAddress(bare.replacing("%25", with: "%")) {
            return entries.contains { Self.network($0, contains: address) }
        }
        let name = Self.name(bare[...])
        return entries.contains { entry in
            let entry = Self.name(entry.hasPrefix(".") ? entry.dropFirst() : entry)
            return !entry.isEmpty && (name == entry || name.hasSuffix(".\(entry)"))
        }
    }

    /// Returns a name without the dots at its end.
    private static func name(_ text: Substring) -> Substring {
        var name = text
        while name.last == "." { name.removeLast() }
        return name
    }

    private static func network(_ entry: Substring, contains address: SocketAddress) -> Bool {
        let parts = entry.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first else { return false }
        let text = first.hasPrefix("[") ? first.dropFirst().prefix { $0 != "]" } : first
        guard let network = SocketAddress(String(text)) else { return false }
        let (left, right) = (network.bytes, address.bytes)
        guard left.count == right.count else { return false }
        guard parts.count == 2 else { return left == right }
        guard let bits = Int(parts[1]), (1...(left.count * 8)).contains(bits) else { return false }
        let (whole, rest) = bits.quotientAndRemainder(dividingBy: 8)
        guard left[..<whole] == right[..<whole] else { return false }
        return rest == 0 || (left[whole] ^ right[whole]) >> (8 - rest) == 0
    }
}
