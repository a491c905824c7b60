// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// One request in a chain of redirects, and the secrets that its server may get.
struct Hop {
    let url: URLReference
    /// Whether the scheme, host and port are those of the task's URL.
    ///
    /// The task's headers, referrer and login are sent only there.
    let isOfHomeHost: Bool
    private let home: URLReference
    /// The reach of the furthest host that has answered in this chain; nil if none has.
    ///
    /// No later host may be nearer: a site on the internet must not lead idown to this computer.
    private let reach: SocketAddress.Reach?

    /// Makes a hop to the task's server, to a mirror, or to the target of a redirect.
    ///
    /// - Parameters:
    ///   - url: the URL to ask for.
    ///   - home: the task's URL.
    ///   - reach: the reach of the furthest host that may have chosen `url`; nil if none has.
    init(url: URLReference, home: URLReference, reach: SocketAddress.Reach?) {
        self.url = url
        self.home = home
        isOfHomeHost = url.origin == home.origin
        self.reach = reach
    }

    /// The origin under which findings about this host are kept.
    var origin: Origin { Origin(url) }

    /// The reach that the host name suggests, while its address is unknown.
    var apparentReach: SocketAddress.Reach {
        let bare = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
        if bare == "localhost" { return .machine }
        return SocketAddress(bare)?.reach ?? .beyond
    }

    /// Returns the hop to which a redirect leads (RFC 9110 section 10.2.2).
    ///
    /// - Parameters:
    ///   - location: the Location field.
    ///   - host: the reach of the host that sent it.
    /// - Returns: the next hop in the chain.
    /// - Throws: `Server.BadResponse` for a target that idown does not follow.
    func following(_ location: String, from host: SocketAddress.Reach) throws(Failure) -> Hop {
        let target = try? url.resolving(location)
        // A URL of another scheme, such as file:, need not have a host.
        let scheme = target?.scheme ?? URLReference.scheme(of: location)
        if let scheme, scheme != "http", scheme != "https" {
            throw .badResponse(
                "redirects to \(scheme.prefix(40)):, but idown only follows http and https"
            )
        }
        guard var next = target else {
            throw .badResponse("redirects to something that is not a URL")
        }
        // A login that came over TLS, even in the Location, is not sent in clear.
        if url.scheme == "https", next.scheme == "http",
            let bare = try? URLReference(next.withoutUserInfo)
        {
            next = bare
        }
        return Hop(url: next, home: home, reach: max(host, reach ?? host))
    }

    /// Returns the request for `ask` with only the secrets that this server may get.
    ///
    /// - Parameters:
    ///   - ask: the bytes to ask for.
    ///   - isByHTTP2: whether to use HTTP/2, if the host speaks it, also for a range.
    ///   - attempt: gives the options, the login and the cookies.
    /// - Returns: the request.
    func request(_ ask: Ask, isByHTTP2: Bool, for attempt: Attempt) -> TransferRequest {
        let (options, network) = (attempt.job.request, attempt.engine.network)
        var request = TransferRequest(
            url: url,
            userAgent: options.userAgent ?? attempt.engine.userAgent
        )
        // A larger one brings nothing, and each connection has its own.
        request.receiveBufferSize = SegmentWriter.bufferSize
        network.lead(&request)
        if let reach, request.proxy == .direct {
            let measure = network.reach
            request.admits = { measure($0) >= reach }
        }
        if isOfHomeHost {
            request.headers = options.headers.map { ($0.name, $0.value) }
            // Only one Referer may be sent, and the task's own header goes first.
            let hasReferrer = options.headers.contains { $0.name.lowercased() == "referer" }
            if let referrer = options.referrer, !hasReferrer {
                // A Referer never has a login (RFC 9110 section 10.1.3).
                let bare = (try? URLReference(referrer))?.withoutUserInfo ?? referrer
                request.headers.append(("Referer", bare))
            }
            if let cookies = options.cookies { request.addField(of: cookies) }
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
        if attempt.fetch.requests.acceptsCodings(of: origin) {
            request.headers.append(("Accept-Encoding", "identity, *;q=0.5"))
        }
        request.add(attempt.cookies, for: url)
        // Mirrors get the login in their own URL, and never the user's keys.
        if !isOfHomeHost, url.scheme == "sftp", url.password != nil {
            request.ssh.logins = [.password]
        }
        // Ranges use connections of their own, because HTTP/2 streams share one window.
        if url.scheme == "https", isByHTTP2 || !ask.isPartial { request.httpVersion = .http2 }
        if ask.isPartial { request.range = (ask.offset, ask.end.map { $0 - 1 }) }
        switch ask {
        case .whole: request.readsToEnd = true
        case .rest, .overlap, .part: break
        case .sample:
            // libssh2 1.10 asks ahead for four times this size, also beyond the range.
            request.receiveBufferSize = Int(OverlapProof.sample)
        case .ending:
            request.readsToEnd = true
            request.receiveBufferSize = Int(OverlapProof.sample)
        }
        if let ifRange = ask.ifRange { request.headers.append(("If-Range", ifRange)) }
        return request
    }
}

extension TransferRequest {
    private var cookieField: Int? { headers.firstIndex { $0.name.lowercased() == "cookie" } }

    /// Adds cookies that the task gives, which replace those of the user's cookie file.
    fileprivate mutating func addField(of cookies: String) {
        if let field = cookieField {
            headers[field].value += "; " + cookies
        } else {
            headers.append(("Cookie", cookies))
        }
    }

    /// Adds cookies that servers have set.
    fileprivate mutating func add(_ cookies: ServerCookies, for url: URLReference) {
        if let field = cookieField {
            headers[field].value = cookies.added(to: headers[field].value, for: url)
        } else {
            self.cookies = cookies.field(for: url)
        }
    }

    /// Limits the receive buffer to the bytes of a quarter of a second at this limit.
    ///
    /// While the limit holds back bytes that libcurl has read, nothing is read from the connection,
    /// and some servers give up if they cannot send for a minute.
    mutating func slow(to bytesPerSecond: Int64) {
        let size = Int(clamping: bytesPerSecond / 4)
        receiveBufferSize = min(receiveBufferSize, max(size, 1024))
    }
}
