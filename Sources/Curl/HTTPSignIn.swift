// SPDX-License-Identifier: Apache-2.0

import CCurl

/// How one request signs in by HTTP, at its host and at its proxy.
///
/// Over TLS a host gets the password with the first request (Basic, RFC 7617). Without TLS no host
/// or proxy gets a login before it has asked for one, and one that accepts Digest (RFC 7616) never
/// gets the password itself. The method is remembered, so that only the first request for a folder
/// is sent twice. libcurl answers a challenge itself, so the head with the challenge is held back
/// from the sink, because another head follows.
///
/// Belongs to the pool's thread.
struct HTTPSignIn {
    /// What to do with a line of a head.
    enum Reading {
        /// Give the line to the sink.
        case pass
        /// The line is held back.
        case held
        /// Give all lines that were held back to the sink.
        case release
        /// Send the request again, with the method that was asked for.
        case beginAnew
        /// Give the line, which ends the head, to the sink and end the transfer: the challenges
        /// would never stop.
        case last
    }

    /// How often a login may be asked for again after one was given: Digest nonces expire, and
    /// libcurl answers each new one.
    private static let mostAgain = 3

    private struct Side {
        let party: SignInMethods.Party
        /// The methods that libcurl may use.
        let methods: SignInMethods
        let option: CURLoption
        let offers: CURLINFO
        var timesAsked = 0
    }

    /// The methods that hosts and proxies have asked for.
    private let known: KnownSignIns
    /// Host and proxy, by the status that asks for a login.
    private var sides: [Int: Side] = [:]
    /// The status of the head that is held back; nil where none is.
    private var asking: Int?
    private var held: [[UInt8]] = []
    /// Whether the head that is being read is the last one.
    private var isLast = false

    /// - Parameters:
    ///   - request: the request, with its host and proxy.
    ///   - known: the methods that hosts and proxies have asked for.
    init(_ request: TransferRequest, _ known: KnownSignIns) {
        self.known = known
        guard request.url.isHTTP || request.proxy != .direct else { return }
        if request.signsIn {
            let path = request.url.path
            let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
            let party = SignInMethods.Party.host(request.url.origin, folder: folder)
            let isCovered = request.url.scheme == "https"
            sides[401] = Side(
                party: party,
                methods: known[party] ?? (isCovered ? .basic : .any),
                option: CURLOPT_HTTPAUTH,
                offers: CURLINFO_HTTPAUTH_AVAIL
            )
        }
        if case .through(let proxy) = request.proxy, proxy.credentials != nil {
            let party = SignInMethods.Party.proxy(proxy.address)
            sides[407] = Side(
                party: party,
                methods: known[party] ?? .any,
                option: CURLOPT_PROXYAUTH,
                offers: CURLINFO_PROXYAUTH_AVAIL
            )
        }
    }

    func apply(to easy: EasyHandle) throws(CurlFailure) {
        for side in sides.values { try easy.set(side.option, side.methods.rawValue) }
    }

    /// Decides what to do with a line of a head.
    ///
    /// - Parameters:
    ///   - line: the line, with its line end.
    ///   - easy: the handle that received it.
    ///   - mayBeginAnew: whether the request may be sent again with another method.
    /// - Returns: what to do with the line.
    mutating func read(
        _ line: UnsafeRawBufferPointer,
        of easy: EasyHandle,
        mayBeginAnew: Bool
    ) -> Reading {
        guard !sides.isEmpty else { return .pass }
        if line.starts(with: "HTTP/".utf8) { begin(line, of: easy) }
        let isEnd = line.allSatisfy { $0 == 0x0D || $0 == 0x0A }
        guard let asking, let side = sides[asking] else { return isLast && isEnd ? .last : .pass }
        held.append(Array(line))
        guard isEnd else { return .held }
        let offered = offers(to: side, of: easy)
        // Basic was already sent, and no other method was tried yet.
        let untried = side.methods == .basic ? offered.subtracting(.basic) : offered
        guard untried.isDisjoint(with: side.methods) else { return .held }
        guard mayBeginAnew, !untried.isEmpty else { return .release }
        known[side.party] = offered.preferred
        return .beginAnew
    }

    /// Whether the proxy may open a tunnel if it is signed in to in another way; libcurl shows no
    /// head of its refusal.
    ///
    /// It was refused to the method that the proxy asked for before. Or the proxy has asked, and has
    /// closed the connection on which libcurl was about to sign in.
    func mayTunnelOtherwise(of easy: EasyHandle, after code: CurlCode) -> Bool {
        guard let proxy = sides[407], easy.number(CURLINFO_HTTP_CONNECTCODE) == 407 else {
            return false
        }
        // The same again may lock the user's account.
        guard proxy.methods == .any else {
            return offers(to: proxy, of: easy).preferred != proxy.methods
        }
        // A Digest answers a challenge of the same connection.
        return code != .timedOut && !easy.failureText.contains("response 407")
            && offers(to: proxy, of: easy) == .basic
    }

    /// Chooses the other way to sign in to the proxy.
    ///
    /// - Returns: whether the next connection begins with the login.
    func tunnelOtherwise() -> Bool {
        guard let proxy = sides[407] else { return false }
        let hasAsked = proxy.methods == .any
        known[proxy.party] = hasAsked ? .basic : nil
        return hasAsked
    }

    /// Returns the lines that were held back, once it is known that no other head follows.
    mutating func release() -> [[UInt8]] {
        defer { held = [] }
        asking = nil
        return held
    }

    /// Begins another head: libcurl has answered the one that was held back.
    private mutating func begin(_ line: UnsafeRawBufferPointer, of easy: EasyHandle) {
        _ = release()
        isLast = false
        let status = line.split(separator: 0x20, maxSplits: 2).dropFirst().first
            .flatMap { Int(String(decoding: $0.prefix(3), as: UTF8.self)) }
        if let status, let side = sides[status] {
            // Asked again, the nonce may be too old, which libcurl answers as well.
            isLast = side.timesAsked >= Self.mostAgain
            sides[status]?.timesAsked += 1
            if !isLast { asking = status }
        } else {
            learn(from: easy)
        }
    }

    /// Remembers the methods of the hosts and proxies that have accepted the login.
    private func learn(from easy: EasyHandle) {
        for side in sides.values {
            let offered = offers(to: side, of: easy)
            if !offered.isEmpty { known[side.party] = offered.preferred }
        }
    }

    private func offers(to side: Side, of easy: EasyHandle) -> SignInMethods {
        SignInMethods(rawValue: easy.number(side.offers) ?? 0).intersection(.any)
    }
}

extension TransferRequest {
    /// Whether libcurl may use a login for the host of an HTTP URL; not where the request has an
    /// Authorization field of its own.
    fileprivate var signsIn: Bool {
        guard url.isHTTP, !hasHeader("authorization") else { return false }
        return credentials != nil || url.user != nil || netrcFile != nil
    }
}
