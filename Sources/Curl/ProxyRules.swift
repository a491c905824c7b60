// SPDX-License-Identifier: Apache-2.0

/// Which proxy serves which URL.
///
/// Decided here and not by libcurl, which would not say how it decided: a caller that watches
/// the addresses of hosts must know whether it will see them.
public struct ProxyRules: Hashable, Sendable {
    /// By scheme, as text; for the others ``fallback``.
    private var texts: [String: String]
    private var fallback: String?
    private let exceptions: ProxyExceptions

    /// No proxy for anybody.
    public init() {
        texts = [:]
        exceptions = ProxyExceptions("")
    }

    /// One proxy for everything but the exceptions.
    ///
    /// - Parameters:
    ///   - proxy: as ``ProxyServer/init(_:)`` reads it.
    ///   - exceptions: as `no_proxy` has them.
    public init(proxy: String, exceptions: String) {
        texts = [:]
        fallback = proxy
        self.exceptions = ProxyExceptions(exceptions)
    }

    /// What the user's environment says, as libcurl reads it (libcurl-env(3)).
    ///
    /// `HTTP_PROXY` in capitals is not read: a CGI program's client could set it.
    ///
    /// - Parameter variable: gives a variable's value; nil where it is not set.
    public init(environment variable: (String) -> String?) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap(variable).first { !$0.isEmpty }
        }
        texts = [:]
        for scheme in URLReference.servedSchemes {
            let name = "\(scheme)_proxy"
            texts[scheme] = scheme == "http" ? value(name) : value(name, name.uppercased())
        }
        fallback = value("all_proxy", "ALL_PROXY")
        exceptions = ProxyExceptions(value("no_proxy", "NO_PROXY") ?? "")
    }

    /// The way to the URL's host.
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

    /// Entries between commas and blanks: names, which stand for all below them too, addresses,
    /// networks as `10.0.0.0/8`, or a lone `*` for everything.
    init(_ text: String) {
        entries = text.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
    }

    /// Whether the host, as ``URLReference/host`` has it, is reached without a proxy.
    func contain(_ host: String) -> Bool {
        if entries == ["*"] { return true }
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

    /// Without the dots that may end it.
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
