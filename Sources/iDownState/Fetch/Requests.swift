// SPDX-License-Identifier: Apache-2.0

/// What an attempt has learned by its requests, beside what they have brought.
package struct Requests: Hashable, Sendable {
    /// What further connections go by; nil while none may join.
    package var joining: Joining?
    /// How many connections have brought bytes at once, where others were not answered at all.
    package private(set) var mostServed: Int?
    /// Hosts that have not answered by HTTP/1.1: first connections ask by HTTP/2 there, and where
    /// that helps, none joins them.
    private var hostsOfHTTP2: Set<Origin> = []
    /// The original URL was asked once more already, since a redirect's target refused.
    fileprivate var hasAskedOnceMore = false

    package init() {}

    /// A request begins, which others may join later.
    package mutating func begin() { joining = nil }

    /// What the connections are to do next; nil while none may join.
    package mutating func plan(_ look: Joining.Look) -> SegmentPlan? {
        joining?.plan(look, mostServed: mostServed)
    }

    /// Those that were to join were not answered: no more are asked than have been served.
    package mutating func noteSilence() { mostServed = max(1, joining?.served ?? 0) }

    // MARK: HTTP/2

    /// Whether first connections ask a host by HTTP/2.
    package func isByHTTP2(_ host: Origin) -> Bool { hostsOfHTTP2.contains(host) }

    /// A first connection was answered by HTTP/1.1: that was not it.
    package mutating func speaksHTTP1(_ host: Origin) { hostsOfHTTP2.remove(host) }

    /// Whether a host may speak nothing but HTTP/2, and is asked by that.
    ///
    /// No head has come to what was asked for by HTTP/1.1 alone, or one that refuses the version
    /// (RFC 9110 sections 15.5.22 and 15.6.6, and what proxies say).
    ///
    /// - Parameters:
    ///   - failure: how the request ended.
    ///   - status: that of the answer; nil where no head has come.
    ///   - host: the host, which is asked by HTTPS.
    /// - Returns: whether to ask again.
    package mutating func asksByHTTP2(
        after failure: Failure,
        status: Int?,
        at host: Origin
    ) -> Bool {
        guard !hostsOfHTTP2.contains(host) else { return false }
        let mayBeIt =
            if let status {
                [426, 464, 505].contains(status)
            } else {
                failure.code == .serverBadResponse
                    || (failure.isTransient && [.networkTLS, .networkReset].contains(failure.code))
            }
        if mayBeIt { hostsOfHTTP2.insert(host) }
        return mayBeIt
    }
}

extension Fetch {
    /// Whether the original URL may well lead elsewhere by now, and is asked once more: links that
    /// redirects give expire in mid-task.
    package mutating func asksOnceMore(after end: TransferEnd) -> Bool {
        guard case .failed(let failure) = end, !content.stored.isEmpty,
            !requests.hasAskedOnceMore, failure.code.tellsOfAnExpiredLink
        else { return false }
        requests.hasAskedOnceMore = true
        return true
    }

    /// Whether the file may be had as a whole where a part of it is forbidden.
    ///
    /// There are hosts that let nobody ask for ranges. Where other sources are left, they are better.
    package func mayForbidRanges(after end: TransferEnd, _ ask: Ask) -> Bool {
        guard case .failed(let failure) = end, ask.isPartial, !requests.hasAskedOnceMore else {
            return false
        }
        return failure == .status(403) && sources.urls.count == 1 && !sources.hasServedRange
    }
}
