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

    /// No chain is longer (the limit of browsers).
    static let limit = 20

    init(home: URLReference) {
        url = home
        self.home = home
        isHome = true
    }

    /// A server that is asked in place of `home`.
    init(url: URLReference, home: URLReference) {
        self.url = url
        self.home = home
        isHome = url.origin == home.origin
    }

    /// Where a redirect leads (RFC 9110 section 10.2.2).
    func following(_ location: String) throws(Failure) -> Hop {
        let next: URLReference
        do {
            next = try url.resolving(location)
        } catch {
            throw .badResponse("is a redirect to what is no URL")
        }
        guard next.scheme == "http" || next.scheme == "https" else {
            throw .badResponse("is a redirect to \(next.scheme):, which is not followed")
        }
        return Hop(url: next, home: home)
    }

    /// The request for `ask` as this server may see it.
    func request(_ ask: Ask, for job: TransferRequestOptions) -> TransferRequest {
        var request = TransferRequest(url: url, userAgent: job.userAgent)
        if isHome {
            request.headers = job.headers.map { Curl.HeaderField(name: $0.name, value: $0.value) }
            if let referrer = job.referrer {
                request.headers.append(Curl.HeaderField(name: "Referer", value: referrer))
            }
            if let user = home.user {
                request.credentials = .init(user: user, password: home.password ?? "")
            }
        }
        switch ask {
        case .whole: break
        case .decoded:
            request.decodesContent = true
            // What one read decodes to is kept while the body waits, and libcurl gives up at
            // 64 MiB: deflate makes at most 1032 bytes of one (RFC 1951), so that 16 KiB fit.
            request.receiveBufferSize = 16 << 10
        case .rest(let offset, _): request.range = "\(offset)-"
        case .overlap(let start, _, nil): request.range = "\(start)-"
        case .overlap(let start, _, let end?): request.range = "\(start)-\(end - 1)"
        case .part(let range, _):
            request.range = "\(range.first)-\(range.end - 1)"
            // A connection of its own: streams that share one share its window as well.
            request.httpVersion = .http1
        case .sample(let range): request.range = "\(range.first)-\(range.end - 1)"
        }
        if let ifRange = ask.ifRange {
            request.headers.append(Curl.HeaderField(name: "If-Range", value: ifRange))
        }
        return request
    }
}

/// What of a task's options goes into its requests.
struct TransferRequestOptions {
    let headers: [iDownState.HeaderField]
    let referrer: String?
    let userAgent: String
}
