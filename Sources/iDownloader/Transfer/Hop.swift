// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// One request of a chain of redirects, and what may be told to its server.
struct Hop {
    let url: URLReference
    /// Whether this is the scheme, host and port that the client gave: only there its headers,
    /// its referrer and its login are sent.
    let isHome: Bool
    private let home: URLReference
    /// How far the furthest host was that has answered in this chain; nil where none has.
    ///
    /// No later one may be nearer: a site out there has no business in sending us to this machine.
    private let reach: SocketAddress.Reach?

    /// No chain is longer.
    static let limit = Requests.mostRedirects

    /// The client's own server, one that is asked in its place, or one that a redirect leads to.
    ///
    /// - Parameters:
    ///   - url: what is asked for there.
    ///   - home: the client's URL.
    ///   - reach: how far the furthest host is that may have had a say in it; nil where none has.
    init(url: URLReference, home: URLReference, reach: SocketAddress.Reach?) {
        self.url = url
        self.home = home
        isHome = url.origin == home.origin
        self.reach = reach
    }

    /// The host, as what is known of hosts is kept.
    var origin: Origin { Origin(url) }

    /// How far the host is, as far as its name tells, while nobody has seen its address.
    var apparentReach: SocketAddress.Reach {
        let bare = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
        if bare == "localhost" { return .machine }
        return SocketAddress(bare)?.reach ?? .beyond
    }

    /// Where a redirect leads (RFC 9110 section 10.2.2).
    ///
    /// - Parameters:
    ///   - location: the field of the answer.
    ///   - host: how far the host is that gave it.
    /// - Returns: the next request of the chain.
    /// - Throws: `Server.BadResponse` for what is not followed.
    func following(
        _ location: String,
        from host: SocketAddress.Reach
    ) throws(Failure) -> Hop {
        var next: URLReference
        do {
            next = try url.resolving(location)
        } catch {
            throw .badResponse("redirects to something that is not a URL")
        }
        guard next.isHTTP else {
            throw .badResponse(
                "redirects to \(next.scheme):, but idown only follows http and https"
            )
        }
        // What was said under cover stays there: a login in the Location as well.
        if url.scheme == "https", next.scheme == "http",
            let bare = try? URLReference(next.withoutUserInfo)
        {
            next = bare
        }
        return Hop(url: next, home: home, reach: max(host, reach ?? host))
    }

    /// The request for `ask` as this server may see it.
    ///
    /// - Parameters:
    ///   - ask: what is asked for.
    ///   - isByHTTP2: HTTP/2 is spoken where the host does, whatever is asked for.
    ///   - attempt: whose options, login and cookies go into it.
    /// - Returns: the request, with nothing in it that is another server's.
    func request(
        _ ask: Ask,
        isByHTTP2: Bool,
        for attempt: Attempt
    ) -> TransferRequest {
        let (options, network) = (attempt.job.request, attempt.engine.network)
        var request = TransferRequest(
            url: url,
            userAgent: options.userAgent ?? attempt.engine.userAgent
        )
        // What does not fit when a connection is paused libcurl copies, and again at the next pause.
        request.receiveBufferSize = SegmentWriter.bufferSize
        network.lead(&request)
        if let reach, request.proxy == .direct {
            let measure = network.reach
            request.admits = { measure($0) >= reach }
        }
        if isHome {
            request.headers = options.headers.map { .init(name: $0.name, value: $0.value) }
            // One at most may go out, and the client's own field says what is meant.
            let hasReferrer = options.headers.contains { $0.name.lowercased() == "referer" }
            if let referrer = options.referrer, !hasReferrer {
                // Never with a login in it (RFC 9110 section 10.1.3).
                let bare = (try? URLReference(referrer))?.withoutUserInfo ?? referrer
                request.headers.append(Curl.HeaderField(name: "Referer", value: bare))
            }
            if let cookies = options.cookies { request.add(cookies: cookies, asField: true) }
            if let user = home.user {
                request.credentials = .init(user: user, password: home.password)
            } else if let login = attempt.login {
                request.credentials = login
            } else if url.scheme == "sftp", let user = network.userName {
                request.credentials = .init(user: user, password: nil)
            }
            if request.url.scheme == "sftp", request.credentials?.password != nil {
                request.ssh.logins = [.password]
            } else if options.usesStoredLogins {
                network.signIn(&request)
            }
        }
        if let cookies = attempt.cookies.field(for: url) { request.add(cookies: cookies) }
        // A mirror's own login, where its URL has one: the user's keys are not for mirrors.
        if !isHome, url.scheme == "sftp", url.password != nil { request.ssh.logins = [.password] }
        // Ranges have connections of their own: streams that share one share its window as well.
        if url.scheme == "https", isByHTTP2 || !ask.isPartial { request.httpVersion = .http2 }
        switch ask {
        case .whole: request.readsToEnd = true
        case .rest(let offset, _): request.range = "\(offset)-"
        case .overlap(let start, _, nil): request.range = "\(start)-"
        case .overlap(let start, _, let end?): request.range = "\(start)-\(end - 1)"
        case .part(let range, _):
            request.range = "\(range.first)-\(range.end - 1)"
        case .sample(let range):
            request.range = "\(range.first)-\(range.end - 1)"
            // By SFTP four times of it are asked for ahead, beyond the range too (libssh2 1.10).
            request.receiveBufferSize = Int(OverlapProof.sample)
        case .ending(let range):
            request.range = "\(range.first)-"
            request.readsToEnd = true
            request.receiveBufferSize = Int(OverlapProof.sample)
        }
        if let ifRange = ask.ifRange {
            request.headers.append(Curl.HeaderField(name: "If-Range", value: ifRange))
        }
        return request
    }
}

extension TransferRequest {
    /// Adds cookies to those that are there: the client's own, and what servers have set.
    ///
    /// - Parameters:
    ///   - cookies: what a Cookie field would have.
    ///   - isGiven: whether the client gives them: its field takes the place of those of the user's
    ///     cookie file.
    fileprivate mutating func add(cookies: String, asField isGiven: Bool = false) {
        let given = headers.firstIndex { $0.name.lowercased() == "cookie" }
        guard let given else {
            if isGiven {
                headers.append(Curl.HeaderField(name: "Cookie", value: cookies))
            } else {
                self.cookies = cookies
            }
            return
        }
        headers[given] = Curl.HeaderField(
            name: headers[given].name,
            value: headers[given].value + "; " + cookies
        )
    }
}
