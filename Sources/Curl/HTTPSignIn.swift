// SPDX-License-Identifier: Apache-2.0

import CCurl

/// How one request signs in by HTTP, at its host and at its proxy.
///
/// Over TLS a host gets the password with the first request (Basic, RFC 7617); without TLS no host or
/// proxy gets a login before it has asked for one, and where it takes Digest (RFC 7616), it gets no
/// more. What it asked for is remembered, so that only a folder's first request is sent twice. libcurl
/// answers a challenge by itself: the head that held it is kept from the sink, since another one follows.
///
/// Belongs to the pool's thread.
struct HTTPSignIn {
    /// What becomes of a line of a head.
    enum Reading {
        /// It is the sink's.
        case pass
        /// It is kept.
        case held
        /// All that was kept is the sink's.
        case release
        /// The request is to be sent anew, in the way that is asked for.
        case beginAnew
        /// It ends a head that is the sink's, and the transfer: nothing else would follow for ever.
        case last
    }

    /// So often a login may be asked for again after one was given: nonces of Digest become old, and
    /// libcurl answers each of them.
    private static let mostAgain = 3

    private struct Side {
        let party: SignInMethods.Party
        /// What libcurl may do.
        let methods: SignInMethods
        let option: CURLoption
        let offers: CURLINFO
        var hasAsked = false
        var timesAgain = 0
    }

    /// By the status that asks for a login.
    private var sides: [Int: Side] = [:]
    /// The status of the head that is being kept.
    private var asking: Int?
    private var held: [[UInt8]] = []
    /// The head that is being read is the last one.
    private var isLast = false

    /// - Parameters:
    ///   - request: what is asked for, of whom, through whom.
    ///   - known: what hosts and proxies have asked for.
    init(_ request: TransferRequest, _ known: KnownSignIns) {
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

    /// Looks at a line of a head, its end included.
    ///
    /// - Parameters:
    ///   - line: the line.
    ///   - easy: the handle that it came by.
    ///   - known: is told what was asked for.
    ///   - mayBeginAnew: whether the request may be sent in another way.
    /// - Returns: what becomes of it.
    mutating func read(
        _ line: UnsafeRawBufferPointer,
        of easy: EasyHandle,
        _ known: KnownSignIns,
        mayBeginAnew: Bool
    ) -> Reading {
        guard !sides.isEmpty else { return .pass }
        if line.starts(with: "HTTP/".utf8) { begin(line, of: easy, known) }
        let isEnd = line.allSatisfy { $0 == 0x0D || $0 == 0x0A }
        guard let asking, let side = sides[asking] else { return isLast && isEnd ? .last : .pass }
        held.append(Array(line))
        guard isEnd else { return .held }
        let offered = offers(to: side, of: easy)
        // Basic has been sent already, and nothing else has been tried yet.
        let untried = side.methods == .basic ? offered.subtracting(.basic) : offered
        guard untried.isDisjoint(with: side.methods) else { return .held }
        guard mayBeginAnew, !untried.isEmpty else { return .release }
        known[side.party] = offered.preferred
        return .beginAnew
    }

    /// Gives back what was kept, once nothing follows it after all.
    mutating func release() -> [[UInt8]] {
        defer { held = [] }
        asking = nil
        return held
    }

    /// Another head begins: what was kept had been answered.
    private mutating func begin(
        _ line: UnsafeRawBufferPointer,
        of easy: EasyHandle,
        _ known: KnownSignIns
    ) {
        _ = release()
        isLast = false
        let status = line.split(separator: 0x20, maxSplits: 2).dropFirst().first
            .flatMap { Int(String(decoding: $0.prefix(3), as: UTF8.self)) }
        if let status, let side = sides[status] {
            guard !side.hasAsked else {
                sides[status]?.timesAgain += 1
                isLast = side.timesAgain + 1 >= Self.mostAgain
                return
            }
            sides[status]?.hasAsked = true
            asking = status
        } else {
            learn(from: easy, known)
        }
    }

    /// Remembers what was asked for by those who are content now.
    func learn(from easy: EasyHandle, _ known: KnownSignIns) {
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
    /// Whether libcurl may have a login for the host of an HTTP URL; one that is written into a
    /// field is none of its business.
    fileprivate var signsIn: Bool {
        guard url.isHTTP, !headers.contains(where: { $0.isNamed("authorization") }) else {
            return false
        }
        return credentials != nil || url.user != nil || netrcFile != nil
    }
}
