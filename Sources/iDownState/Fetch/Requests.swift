// SPDX-License-Identifier: Apache-2.0

/// What an attempt asks for, over which connections and why, and what it has learned by that beside
/// the bytes.
package struct Requests: Hashable, Sendable {
    /// Why a connection is made.
    package enum Role: Hashable, Sendable {
        /// It is the first one of a request: the others join it.
        case lead
        /// It fetches what nobody else does.
        case gap
        /// It takes over the end of another's piece, once its head is judged.
        case split(of: Int)
        /// It fetches the same as another; whoever is first ends both.
        case race(with: Int)

        /// As the history has it.
        package var name: String {
            switch self {
            case .lead: "lead"
            case .gap: "gap"
            case .split: "split"
            case .race: "race"
            }
        }
    }

    /// What a connection asks for, and of which of the sources.
    package struct Route: Hashable, Sendable {
        package private(set) var ask: Ask
        package let role: Role
        /// Where the chain of redirects began.
        package let source: Int
        /// How many redirects led here.
        package private(set) var redirects = 0
        /// Whether the chain began at the task's own URL, where an earlier one had led elsewhere.
        package private(set) var isFromHome = false

        package init(_ ask: Ask, as role: Role, from source: Int) {
            self.ask = ask
            self.role = role
            self.source = source
        }

        /// The same to where a redirect leads; nil where the chain is too long.
        var redirected: Route? {
            guard redirects < Requests.mostRedirects else { return nil }
            var route = self
            route.redirects += 1
            return route
        }

        /// The same to the task's own URL.
        var fromHome: Route {
            var route = self
            route.redirects = 0
            route.isFromHome = true
            return route
        }

        /// Another question to the same host.
        func asking(_ ask: Ask) -> Route {
            var route = self
            route.ask = ask
            return route
        }
    }

    /// What a comparison of the server's bytes with those on disk is to show.
    package enum Proof: Hashable, Sendable {
        /// A sample of the bytes on disk is what the server has.
        case sample(ByteRange)
        /// The bytes on disk before `to` are of the version: compared are those from `from` on.
        case rest(RemoteVersion, from: Int64, to: Int64)
        /// They are equal, or they are not.
        case succeeded, failed
    }

    /// A connection that is open.
    package struct Connection: Hashable, Sendable, Identifiable {
        /// Counted from 1 in each attempt.
        package let id: Int
        package let route: Route
        package let startedAt: Duration
        /// The head of its answer, and what it turned out to be; nil before it is complete.
        fileprivate(set) var answer: Fetch.Answer?
        package fileprivate(set) var judgement: Judgement?
        /// What the comparison of its bytes is to show, until it has.
        fileprivate(set) var proof: Proof?
        /// It was ended on purpose: how it ends says nothing.
        package fileprivate(set) var isCut = false
        /// The host has said that it gives no further connection.
        package fileprivate(set) var isTurnedAway = false
        /// Since when, and from which byte on, it brings bytes; nil where it does not.
        fileprivate var bringing: Bringing?

        /// The codings that are taken off its body, in the order in which they were applied.
        package var codings: [ContentCoding] { answer?.codings ?? [] }

        /// The offset of the first byte that it brings; nil where it brings none.
        var start: Int64? { bringing?.start }

        /// Whether it brings bytes of the file that are taken as they come.
        var bringsFile: Bool {
            switch judgement {
            case .begin, .resume, .prove: proof == nil
            case .compare, .check, .complete, .askAgain, .redirect, .fail, nil: false
            }
        }

        /// Whether its answer is held against what is on disk.
        package var isComparing: Bool {
            switch judgement {
            case .compare, .prove: true
            case .begin, .resume, .check, .complete, .askAgain, .redirect, .fail, nil: false
            }
        }
    }

    fileprivate struct Bringing: Hashable, Sendable {
        let start: Int64
        let since: Duration
        var meter: RateMeter
    }

    /// Where a connection is to be made that an event calls for.
    package enum Way: Hashable, Sendable {
        /// Where the last one to its source has come to.
        case toSource
        /// Where the one is that calls for it.
        case samePlace
        /// Where the answer to that leads.
        case redirected(to: String)
        /// At the task's own URL.
        case home
    }

    /// One thing that is to be done.
    package enum Step: Hashable, Sendable {
        /// Make a connection, which counts as open already.
        case connect(Int, Route, Way)
        /// End one; what it has brought stays.
        case cut(Int)
        /// The host of the one that has ended, or was judged, gives no further connection;
        /// `wasClosed` where it has ended that one itself.
        case refused(wasClosed: Bool, retryAfter: Duration?)
        /// So many connections were found to be of use at the host of this source alone.
        case learned(UsefulConnections, at: Int)
    }

    /// No chain of redirects is longer (the limit of browsers).
    package static let mostRedirects = 20

    /// What further connections go by; nil while none may join.
    package internal(set) var joining: Joining?
    /// Those that are open, the oldest first.
    package private(set) var open: [Connection] = []
    /// How many connections have brought bytes at once, where others were not answered at all.
    package private(set) var mostServed: Int?
    private var count = 0
    /// Hosts that have not answered by HTTP/1.1: first connections ask by HTTP/2 there, and where
    /// that helps, none joins them.
    private var hostsOfHTTP2: Set<Origin> = []
    /// The original URL was asked once more already, since a redirect's target refused.
    fileprivate var hasAskedOnceMore = false

    package init() {}

    // MARK: Connections

    /// One that is open; nil where there is none of this number.
    package subscript(id: Int) -> Connection? { open.first { $0.id == id } }

    /// A request begins, with a first connection that others may join later.
    package mutating func begin(
        _ ask: Ask,
        of source: Int,
        at now: Duration
    ) -> (id: Int, route: Route) {
        joining = nil
        let route = Route(ask, as: .lead, from: source)
        return (connect(route, at: now), route)
    }

    /// A connection is made, and counts as open from now on.
    mutating func connect(_ route: Route, at now: Duration) -> Int {
        count += 1
        open.append(Connection(id: count, route: route, startedAt: now))
        return count
    }

    /// Its head turned out to be this.
    package mutating func judged(_ id: Int, _ judgement: Judgement, _ answer: Fetch.Answer) {
        change(id) { ($0.judgement, $0.answer) = (judgement, answer) }
    }

    /// The comparison of its bytes is to show this; nil where it has, or nothing is.
    mutating func prove(_ id: Int, _ proof: Proof?) { change(id) { $0.proof = proof } }

    /// Its bytes are stored from now on, beginning with that at `start`.
    package mutating func brings(_ id: Int, from start: Int64, at now: Duration) {
        let meter = RateMeter(count: start, at: now)
        change(id) { $0.bringing = Bringing(start: start, since: now, meter: meter) }
    }

    /// Its host gives no further connection.
    mutating func turnedAway(_ id: Int) { change(id) { $0.isTurnedAway = true } }

    /// It is ended, and what it has brought stays.
    package mutating func cut(_ id: Int) { change(id) { $0.isCut = true } }

    /// It is over.
    package mutating func closed(_ id: Int) { open.removeAll { $0.id == id } }

    /// Those that were to join were not answered: no more are asked than have been served.
    package mutating func noteSilence() { mostServed = max(1, joining?.served ?? 0) }

    private mutating func change(_ id: Int, _ body: (inout Connection) -> Void) {
        guard let index = open.firstIndex(where: { $0.id == id }) else { return }
        body(&open[index])
    }

    // MARK: The plan

    /// Whether the plan has to be looked at again in a while: alone and without hope of company
    /// there is nothing to plan.
    package var needsPlanning: Bool {
        guard let joining, !open.isEmpty else { return false }
        return open.count > 1 || !joining.isClosed
    }

    /// What the connections are to do next; nil while none may join.
    mutating func plan(_ look: Joining.Look, of file: RemoteVersion) -> SegmentPlan? {
        let pieces = open.indices.compactMap { piece(at: $0, look) }
        let served = open.count { connection in
            guard let start = connection.bringing?.start,
                let progress = look.progress[connection.id]
            else { return false }
            return progress.position > start
        }
        return joining?.plan(look, pieces, served: served, mostServed: mostServed, of: file)
    }

    /// What a connection works at; nil where it works at nothing.
    private mutating func piece(at index: Int, _ look: Joining.Look) -> SegmentPlan.Piece? {
        let connection = open[index]
        guard !connection.isCut else { return nil }
        var rival: Int?
        if case .race(let number) = connection.route.role { rival = number }
        guard let bringing = connection.bringing else {
            guard case .part(let range, _) = connection.route.ask, connection.judgement == nil
            else { return nil }
            return SegmentPlan.Piece(
                id: connection.id,
                position: range.first,
                end: range.end,
                isJudged: false,
                age: look.now - connection.startedAt,
                rival: rival
            )
        }
        guard let progress = look.progress[connection.id] else { return nil }
        open[index].bringing?.meter.read(progress.position, at: look.now)
        return SegmentPlan.Piece(
            id: connection.id,
            position: progress.position,
            end: progress.end,
            age: look.now - bringing.since,
            bytesPerSecond: open[index].bringing?.meter.perSecond,
            rival: rival
        )
    }

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
    /// redirects give expire in mid-task, and libcurl may have used one up that works once, by sending
    /// a request again whose connection had ended before the answer.
    package mutating func asksOnceMore(after end: TransferEnd) -> Bool {
        guard case .failed(let failure) = end, !requests.hasAskedOnceMore,
            failure.code.tellsOfAnExpiredLink
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
