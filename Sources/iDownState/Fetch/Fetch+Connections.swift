// SPDX-License-Identifier: Apache-2.0

// Further connections beside the lead connection. None of them can fail an attempt.
extension Fetch {
    /// The sources that may bring parts, the lead connection's source first.
    package var partSources: [Int] {
        requests.joining.map { sources.besides($0.source, hasDigest: hasDigest) } ?? []
    }

    /// Lets further connections join the lead connection, where they can fetch what is missing.
    ///
    /// Their number may change while the transfer runs.
    ///
    /// An FTP transfer has one connection: a server may ignore REST and send the file from its
    /// first byte, and the code to detect that cost more than further connections saved.
    ///
    /// - Parameters:
    ///   - lead: the lead connection.
    ///   - isByHTTP2: whether the answer came by HTTP/2.
    ///   - useful: how many connections were useful at this host before.
    ///   - now: a reading of a clock that only goes forward.
    /// - Returns: whether further connections may join.
    package mutating func allowJoining(
        _ lead: Int,
        isByHTTP2: Bool = false,
        useful: UsefulConnections? = nil,
        at now: Duration
    ) -> Bool {
        let known = content.known
        guard let lead = requests[lead], let answer = lead.answer, lead.bringsFile,
            sources.isHTTP(lead.route.source), let total = known.total, !known.refusesRanges,
            !hasSeveralVersions, !needsOneAnswer, known.strongValidator != nil || hasDigest,
            !isByHTTP2 || !requests.isByHTTP2(answer.host),
            total - content.stored.byteCount > RampUp.smallestRest
        else { return false }
        requests.joining = Joining(
            source: lead.route.source,
            headTime: now - lead.startedAt,
            known: useful,
            stored: content.stored.byteCount,
            at: now
        )
        return true
    }

    // MARK: Heads

    /// Records that the head of a joining connection has come and fits.
    package mutating func headFits(_ id: Int, at now: Duration) {
        guard let connection = requests[id] else { return }
        requests.joining?.headCame(after: now - connection.startedAt)
    }

    /// Turns away a joining connection whose head does not fit: nothing of its body is stored.
    ///
    /// - Parameters:
    ///   - id: the connection, whose head is judged.
    ///   - now: a reading of a clock that only goes forward.
    /// - Returns: the steps to take instead.
    package mutating func turnAway(_ id: Int, at now: Duration) -> [Requests.Step] {
        guard let connection = requests[id], let judgement = connection.judgement else { return [] }
        switch judgement {
        case .redirect(let location):
            guard let route = connection.route.redirected else {
                giveUp(connection, at: now)
                return []
            }
            return [connect(route, .redirected(to: location), at: now)]
        case .askAgain(let ask, _) where ask == connection.route.ask.unconditional:
            // The host answers If-Range as if the file had changed: ask again without a condition.
            content.dislikesIfRange()
            return [connect(connection.route.asking(ask), .samePlace, at: now)]
        case .fail(let failure):
            return refuse(connection, failure, at: now)
        case .begin, .resume, .compare, .prove, .check, .complete, .askAgain:
            // The server serves no ranges after all, or has another version than the stored one.
            if !dropSource(of: connection) { requests.joining?.close() }
            return []
        }
    }

    private mutating func refuse(
        _ connection: Requests.Connection,
        _ failure: Failure,
        at now: Duration
    ) -> [Requests.Step] {
        let status = connection.answer?.facts.status ?? 0
        let isOfHomeHost = connection.answer?.host == request.origin
        let isRefusal = [403, 429, 503].contains(status)
        if !isRefusal, dropSource(of: connection) { return [] }
        // The link may work only once: the task's own URL may redirect to another.
        let route = connection.route
        if [403, 404, 410].contains(status), !isOfHomeHost, !route.isRetriedFromHome,
            requests.joining?.hasFailedAtHome == false, route.source == sources.position
        {
            return [connect(route.retriedFromHome, .home, at: now)]
        }
        if route.isRetriedFromHome { requests.joining?.failedAtHome() }
        guard isRefusal else {
            requests.joining?.failed(after: 0, at: now)
            return []
        }
        requests.turnedAway(connection.id)
        return [refused(connection, wasClosed: false, failure.retryAfter, at: now)]
    }

    /// Records that the host allows no further connection.
    private mutating func refused(
        _ connection: Requests.Connection,
        wasClosed: Bool,
        _ retryAfter: Duration?,
        at now: Duration
    ) -> Requests.Step {
        if !dropSource(of: connection) { requests.joining?.refused(at: now) }
        return .refused(wasClosed: wasClosed, retryAfter: retryAfter)
    }

    /// Records that a connection failed after this many bytes.
    private mutating func giveUp(
        _ connection: Requests.Connection,
        after bytes: Int64 = 0,
        at now: Duration
    ) {
        if !dropSource(of: connection) { requests.joining?.failed(after: bytes, at: now) }
    }

    /// Fetches no further parts from a source that failed, or was slower than another.
    ///
    /// - Returns: false where it is the source of the lead connection, which always stays.
    @discardableResult
    private mutating func dropSource(of connection: Requests.Connection?) -> Bool {
        guard let joining = requests.joining, let source = connection?.route.source,
            source != joining.source
        else { return false }
        sources.drop(source)
        return true
    }

    private mutating func connect(
        _ route: Requests.Route,
        _ way: Requests.Way,
        at now: Duration
    ) -> Requests.Step {
        .connect(requests.connect(route, at: now), route, way)
    }

    // MARK: Ends

    /// How a joining connection has ended.
    package enum JoinedEnd: Hashable, Sendable {
        /// Nothing of it was stored; `isRefusal` says that the host may have closed the connection
        /// because it allows no more.
        case empty(isRefusal: Bool)
        /// It brought this many bytes; `isAll` says that they are all it was to bring.
        case brought(Int64, isAll: Bool)
    }

    /// Records how a joining connection has ended, and returns the steps to take.
    package mutating func ended(_ id: Int, _ end: JoinedEnd, at now: Duration) -> [Requests.Step] {
        guard let connection = requests[id] else { return [] }
        switch end {
        case .empty(let isRefusal):
            guard connection.judgement == nil else { return [] }
            if connection.isCut {
                // Other connections brought its part before it was answered.
                dropSource(of: connection)
            } else if isRefusal {
                return [refused(connection, wasClosed: true, nil, at: now)]
            } else {
                giveUp(connection, at: now)
            }
        case .brought where connection.isCut: break
        case .brought(_, isAll: true): requests.joining?.succeeded()
        case .brought(let bytes, isAll: false): giveUp(connection, after: bytes, at: now)
        }
        return []
    }

    // MARK: The plan

    /// Assigns what is missing to as many connections as are useful.
    package mutating func plan(_ look: Joining.Look) -> [Requests.Step] {
        // No connection brings bytes any more: the next attempt fetches what a failure left.
        guard look.progress.keys.contains(where: { requests[$0]?.isCut == false }) else {
            return giveUpSilentOnes(at: look.now)
        }
        var (look, steps) = (look, [Requests.Step]())
        // The second pass assigns what the first pass's cuts leave.
        for _ in 0..<2 {
            for index in look.places.indices where !isUsable(look.places[index]) {
                look.places[index].room = 0
            }
            guard let plan = requests.plan(look, of: content.known) else { break }
            if let joining = requests.joining, let found = joining.finding {
                steps.append(.learned(found, at: joining.source))
            }
            let cuts = requests.open.count(where: \.isCut)
            for step in plan.steps { steps += perform(step, &look) }
            guard requests.open.count(where: \.isCut) > cuts else { break }
        }
        return steps
    }

    /// Ends joining connections that get no answer, once no other connection is left: their ranges
    /// are then asked for on one connection, which the host may serve.
    private mutating func giveUpSilentOnes(at now: Duration) -> [Requests.Step] {
        guard let joining = requests.joining else { return [] }
        let waiting = requests.open.filter { !$0.isCut }
        let areSilent = waiting.allSatisfy {
            $0.judgement == nil && joining.isSilence(now - $0.startedAt)
        }
        guard areSilent, !waiting.isEmpty else { return [] }
        requests.noteSilence()
        return waiting.map { cut($0.id) }
    }

    private mutating func perform(
        _ step: SegmentPlan.Step,
        _ look: inout Joining.Look
    ) -> [Requests.Step] {
        switch step {
        case .open(let range): return ask(for: range, as: .gap, &look)
        case .split(let id, let range): return ask(for: range, as: .split(of: id), &look)
        case .extend(let id, let end): return [.extend(id, to: end)]
        case .race(let id, let range):
            let slow = requests[id]
            let steps = ask(for: range, as: .race(with: id), &look, besides: slow?.route.source)
            if !steps.isEmpty { dropSource(of: slow) }
            return steps
        case .cut(let id): return [cut(id)]
        case .replace(let id):
            requests.joining?.replacedOne()
            dropSource(of: requests[id])
            return [cut(id)]
        }
    }

    private mutating func cut(_ id: Int) -> Requests.Step {
        requests.cut(id)
        return .cut(id)
    }

    /// Whether a part may be asked for from this source.
    ///
    /// A mirror that has not answered yet gets no second request: it may never answer.
    private func isUsable(_ place: Joining.Look.Place) -> Bool {
        guard place.source != requests.joining?.source else { return true }
        return partSources.contains(place.source)
            && !requests.open.contains { $0.route.source == place.source && $0.judgement == nil }
    }

    /// Asks the least busy source whose host has room for a part.
    ///
    /// - Parameters:
    ///   - range: the part.
    ///   - role: why the part is asked for.
    ///   - look: the state of the connections; its room shrinks by the new connection.
    ///   - slow: a source to leave out, unless the lead connection uses it.
    /// - Returns: the step that makes the connection; empty where none can be made.
    private mutating func ask(
        for range: ByteRange,
        as role: Requests.Role,
        _ look: inout Joining.Look,
        besides slow: Int? = nil
    ) -> [Requests.Step] {
        let first = requests.joining?.source
        let places = look.places.filter {
            $0.room > 0 && isUsable($0) && ($0.source == first || $0.source != slow)
        }
        guard let place = places.min(by: { load(of: $0.source) < load(of: $1.source) }) else {
            return []
        }
        for index in look.places.indices where look.places[index].host == place.host {
            look.places[index].room -= 1
        }
        let route = Requests.Route(ask(for: range, of: place.source), as: role, from: place.source)
        return [connect(route, .toSource, at: look.now)]
    }

    private func load(of source: Int) -> Int {
        requests.open.count { $0.route.source == source && !$0.isCut }
    }
}
