// SPDX-License-Identifier: Apache-2.0

/// The requests of an attempt: its connections, why each was made, and what they have shown about
/// the hosts.
package struct Requests: Hashable, Sendable {
    /// Why a connection is made.
    package enum Role: Hashable, Sendable {
        /// The lead connection: the first one of a request, which others join.
        case lead
        /// It fetches a range that no other connection fetches.
        case gap
        /// It takes over the end of another connection's segment, once its head is judged.
        case split(of: Int)
        /// It fetches the same range as another connection; the first to finish ends both.
        case race(with: Int)

        /// The name in the history.
        package var name: String {
            switch self {
            case .lead: "lead"
            case .gap: "gap"
            case .split: "split"
            case .race: "race"
            }
        }
    }

    /// What a connection asks for, and from which source.
    package struct Route: Hashable, Sendable {
        package private(set) var ask: Ask
        package let role: Role
        /// The source at whose URL the chain of redirects began.
        package let source: Int
        /// How many redirects led here.
        package private(set) var redirects = 0
        /// Whether the chain began at the task's own URL, after an earlier chain had led elsewhere.
        package private(set) var isRetriedFromHome = false

        package init(_ ask: Ask, as role: Role, from source: Int) {
            self.ask = ask
            self.role = role
            self.source = source
        }

        /// The same route after one more redirect; nil where the chain is too long.
        var redirected: Route? {
            guard redirects < Requests.mostRedirects else { return nil }
            var route = self
            route.redirects += 1
            return route
        }

        /// The same route, begun at the task's own URL.
        var retriedFromHome: Route {
            var route = self
            route.redirects = 0
            route.isRetriedFromHome = true
            return route
        }

        /// Returns the same route with another request.
        func asking(_ ask: Ask) -> Route {
            var route = self
            route.ask = ask
            return route
        }
    }

    /// What a comparison of the server's bytes with those on disk is to prove.
    package enum Proof: Hashable, Sendable {
        /// This sample of the bytes on disk equals the server's bytes.
        case sample(ByteRange)
        /// The bytes on disk before `to` belong to the version; those from `from` on are compared.
        case rest(RemoteVersion, from: Int64, to: Int64)
        /// The bytes are equal, or they are not.
        case succeeded, failed
    }

    /// A connection that is open.
    package struct Connection: Hashable, Sendable, Identifiable {
        /// Counted from 1 in each attempt.
        package let id: Int
        package let route: Route
        package let startedAt: Duration
        /// The head of the answer and its judgement; nil before the head is complete.
        fileprivate(set) var answer: Fetch.Answer?
        package fileprivate(set) var judgement: Judgement?
        /// What the comparison of its bytes is to prove; nil where nothing is left to prove.
        fileprivate(set) var proof: Proof?
        /// Whether idown ended the connection on purpose: how it ends then says nothing.
        package fileprivate(set) var isCut = false
        /// Whether the host answered that it allows no further connection.
        package fileprivate(set) var isTurnedAway = false
        /// Since when and from which offset on it brings bytes; nil where it brings none.
        fileprivate var bringing: Bringing?

        /// The codings to remove from its body, in the order in which they were applied.
        package var codings: [ContentCoding] { answer?.codings ?? [] }

        /// The offset of the first byte that it brings; nil where it brings none.
        var start: Int64? { bringing?.start }

        /// Whether it brings bytes of the file that are stored without a comparison.
        var bringsFile: Bool {
            switch judgement {
            case .begin, .resume, .prove: proof == nil
            case .compare, .check, .complete, .askAgain, .redirect, .fail, nil: false
            }
        }

        /// Whether its answer is compared with the bytes on disk.
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

    /// Where to make a connection.
    package enum Way: Hashable, Sendable {
        /// Where the last connection to its source was made, after redirects.
        case toSource
        /// Where the connection was made that the step replaces.
        case samePlace
        /// Where the answer of that connection redirects to.
        case redirected(to: String)
        /// At the task's own URL.
        case home
    }

    /// One thing to do.
    package enum Step: Hashable, Sendable {
        /// Make a connection; it already counts as open.
        case connect(Int, Route, Way)
        /// Let a connection bring the bytes up to this offset, although others work at them.
        case extend(Int, to: Int64)
        /// End a connection; the bytes that it brought stay.
        case cut(Int)
        /// The host of the connection that ended or was judged allows no further one; `wasClosed`
        /// says that the host closed the connection itself.
        case refused(wasClosed: Bool, retryAfter: Duration?)
        /// This many connections were found useful at the host of this source.
        case learned(UsefulConnections, at: Int)
    }

    /// The most redirects of a chain (the limit of browsers).
    package static let mostRedirects = 20

    /// How further connections join; nil while none may.
    package internal(set) var joining: Joining?
    /// The open connections, the oldest first.
    package private(set) var open: [Connection] = []
    /// How many connections a host served at once when it did not answer others; nil where no
    /// connection was left unanswered.
    package private(set) var mostServed: Int?
    private var count = 0
    /// Hosts that did not answer by HTTP/1.1: lead connections ask them by HTTP/2, and none joins a
    /// lead connection that HTTP/2 answers.
    private var hostsOfHTTP2: Set<Origin> = []
    /// Hosts that have the file only with a Content-Encoding.
    private var hostsOfCodings: Set<Origin> = []
    /// Whether the original URL was already asked again, because a redirect's target refused.
    fileprivate var hasAskedOnceMore = false

    package init() {}

    // MARK: Connections

    /// Returns the open connection with this id; nil where there is none.
    package subscript(id: Int) -> Connection? { open.first { $0.id == id } }

    /// Begins a request with a lead connection, which others may join later.
    package mutating func begin(
        _ ask: Ask,
        of source: Int,
        at now: Duration
    ) -> (id: Int, route: Route) {
        joining = nil
        let route = Route(ask, as: .lead, from: source)
        return (connect(route, at: now), route)
    }

    /// Adds a connection, which counts as open from now on, and returns its id.
    mutating func connect(_ route: Route, at now: Duration) -> Int {
        count += 1
        open.append(Connection(id: count, route: route, startedAt: now))
        return count
    }

    /// Records how a connection's head was judged.
    package mutating func judged(_ id: Int, _ judgement: Judgement, _ answer: Fetch.Answer) {
        change(id) { ($0.judgement, $0.answer) = (judgement, answer) }
    }

    /// Sets what the comparison of a connection's bytes is to prove; nil where nothing is left to
    /// prove.
    mutating func prove(_ id: Int, _ proof: Proof?) { change(id) { $0.proof = proof } }

    /// Records that a connection's bytes are stored from now on, beginning at offset `start`.
    package mutating func brings(_ id: Int, from start: Int64, at now: Duration) {
        let meter = RateMeter(count: start, at: now)
        change(id) { $0.bringing = Bringing(start: start, since: now, meter: meter) }
    }

    /// Records that the host answered on this connection that it allows no further one.
    mutating func turnedAway(_ id: Int) { change(id) { $0.isTurnedAway = true } }

    /// Marks a connection as ended on purpose; the bytes that it brought stay.
    package mutating func cut(_ id: Int) { change(id) { $0.isCut = true } }

    /// Removes a connection that has ended.
    package mutating func closed(_ id: Int) { open.removeAll { $0.id == id } }

    /// Limits connections to the number that was served, because joining ones got no answer.
    package mutating func noteSilence() { mostServed = max(1, joining?.served ?? 0) }

    private mutating func change(_ id: Int, _ body: (inout Connection) -> Void) {
        guard let index = open.firstIndex(where: { $0.id == id }) else { return }
        body(&open[index])
    }

    // MARK: The plan

    /// Whether the plan has to be made again soon: a single connection that none may join needs no
    /// plan.
    package var needsPlanning: Bool {
        guard let joining, !open.isEmpty else { return false }
        return open.count > 1 || !joining.isClosed
    }

    /// Plans what the connections do next; returns nil while none may join.
    mutating func plan(_ look: Joining.Look, of file: RemoteVersion) -> SegmentPlan? {
        let segments = open.indices.compactMap { segment(at: $0, look) }
        let served = open.count { connection in
            guard let start = connection.bringing?.start,
                let progress = look.progress[connection.id]
            else { return false }
            return progress.position > start
        }
        return joining?.plan(look, segments, served: served, mostServed: mostServed, of: file)
    }

    /// Returns what a connection works at; nil where it works at nothing.
    private mutating func segment(at index: Int, _ look: Joining.Look) -> SegmentPlan.Segment? {
        let connection = open[index]
        guard !connection.isCut else { return nil }
        var rival: Int?
        if case .race(let number) = connection.route.role { rival = number }
        guard let bringing = connection.bringing else {
            guard case .part(let range, _) = connection.route.ask, connection.judgement == nil
            else { return nil }
            return SegmentPlan.Segment(
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
        return SegmentPlan.Segment(
            id: connection.id,
            position: progress.position,
            end: progress.end,
            answerEnd: connection.route.ask.end ?? .max,
            age: look.now - bringing.since,
            bytesPerSecond: open[index].bringing?.meter.perSecond,
            rival: rival
        )
    }

    // MARK: HTTP/2

    /// Whether lead connections ask this host by HTTP/2.
    package func isByHTTP2(_ host: Origin) -> Bool { hostsOfHTTP2.contains(host) }

    /// Whether any Content-Encoding of this host's answers is accepted.
    package func acceptsCodings(of host: Origin) -> Bool { hostsOfCodings.contains(host) }

    /// Whether to ask a host again, which has answered 406 (RFC 9110 section 15.5.7): it may have the
    /// file only with a Content-Encoding, of which any is accepted from then on.
    package mutating func acceptsCodings(after status: Int?, at host: Origin) -> Bool {
        status == 406 && hostsOfCodings.insert(host).inserted
    }

    /// HTTP/1.1 works here after all: forget that this host needs HTTP/2.
    package mutating func speaksHTTP1(_ host: Origin) { hostsOfHTTP2.remove(host) }

    /// Whether a host may speak only HTTP/2; from then on it is asked by HTTP/2.
    ///
    /// HTTP/1.1 got no answer, or one that refuses the version: 426 or 505 (RFC 9110 sections
    /// 15.5.22 and 15.6.6), or 464, which proxies send.
    ///
    /// - Parameters:
    ///   - failure: how the request ended.
    ///   - status: the status of the answer; nil where no head came.
    ///   - host: the host, which is asked by HTTPS.
    /// - Returns: whether to ask again, by HTTP/2.
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
    /// Whether to ask the original URL once more, because it may lead elsewhere by now.
    ///
    /// Links from redirects expire during a task. libcurl may also have used up a link that works
    /// once: it repeats a request whose connection ended before the answer.
    package mutating func asksOnceMore(after end: TransferEnd) -> Bool {
        guard case .failed(let failure) = end, !requests.hasAskedOnceMore,
            failure.code.tellsOfAnExpiredLink
        else { return false }
        requests.hasAskedOnceMore = true
        return true
    }

    /// Whether the whole file may be had although a part of it was forbidden.
    ///
    /// Some hosts forbid all ranges. Where there are other sources, those are asked instead.
    package func mayForbidRanges(after end: TransferEnd, _ ask: Ask) -> Bool {
        guard case .failed(let failure) = end, ask.isPartial, !requests.hasAskedOnceMore else {
            return false
        }
        return failure == .status(403) && sources.urls.count == 1 && !sources.hasServedRange
    }
}
