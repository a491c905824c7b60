// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import iDownState

/// One request of a transfer with its answer, and the connections that join it meanwhile.
///
/// Belongs to its transfer's actor. One loop takes all that happens in turn, so that no two
/// decisions about one file are made at once.
final class Conversation {
    enum End {
        case exchanged(Exchange)
        /// `from` is how far the host is that said so.
        case redirected(to: String, from: SocketAddress.Reach)
        /// The host may speak nothing but HTTP/2, and is asked the same by that.
        case sameAgain
    }

    /// What the answer to a question has come to.
    enum Exchange {
        /// The body is in the file.
        case stored
        /// Everything was there already.
        case complete
        /// The sample that was asked for is what is on disk.
        case equal
        case again(Ask, RemoteVersion)
    }

    private let attempt: Attempt
    private let storage: Storage
    /// How many connections somebody wants the task to have.
    private let choice: ConnectionChoice
    private let inbox = TransferInbox()
    /// Those that are open now, the oldest first.
    private var connections: [Connection] = []
    /// Those of them whose end nobody waits for yet.
    private var unattended: [Connection] = []

    init(_ attempt: Attempt, _ storage: Storage, choice: ConnectionChoice) {
        self.attempt = attempt
        self.storage = storage
        self.choice = choice
    }

    private var engine: Engine { attempt.engine }
    private var content: Content { attempt.fetch.content }
    private var now: Duration { engine.hosts.now }

    /// Sends one request and sees its response through, with all connections that join it.
    ///
    /// - Parameters:
    ///   - ask: what is asked for.
    ///   - hop: where; a first connection has its place at that host already.
    /// - Returns: what came of it.
    /// - Throws: what ends the transfer, or what this source has come to.
    func request(_ ask: Ask, at hop: Hop) async throws(TransferEnd) -> End {
        attempt.fetch.requests.begin()
        let source = attempt.fetch.sources.position
        let lead = connect(Connection.Route(ask: ask, hop: hop, role: .lead, source: source))
        let end = await listen(to: lead)
        guard !lead.sink.isByHTTP2 else { return try end.get() }
        let isByHTTP1Alone = ask.isPartial || attempt.wantsOwnConnection
        if case .failure(.failed(let failure)) = end, hop.url.scheme == "https", isByHTTP1Alone,
            attempt.fetch.requests.asksByHTTP2(
                after: failure,
                status: lead.sink.head?.facts.status,
                at: Origin(hop.url)
            )
        {
            return .sameAgain
        }
        attempt.fetch.requests.speaksHTTP1(Origin(hop.url))
        return try end.get()
    }

    // MARK: Connections

    /// Sends a request on a connection of its own.
    @discardableResult
    private func connect(_ route: Connection.Route) -> Connection {
        let number = attempt.nextConnection()
        var (before, isByHTTP2) = (0, false)
        if route.isLead {
            before = attempt.headerBytes
            isByHTTP2 = attempt.fetch.requests.isByHTTP2(Origin(route.hop.url))
        } else {
            engine.hosts.opened(route.hop.url.origin)
        }
        let task = attempt.job.task
        let valve = engine.rates.valve(for: task)
        let sink = ResponseSink(
            number: number,
            reader: HeadReader(bytesBefore: before, now: engine.time.date),
            inbox: inbox,
            valve: valve,
            keepsSmallBody: mayArrive(by: route)
        )
        var request = route.hop.request(
            route.ask,
            isByHTTP2: isByHTTP2,
            for: engine.options(
                for: attempt.job.request,
                login: attempt.login,
                cookies: attempt.cookies
            )
        )
        if isForTag(route) { request.reuse = .never }
        if let limit = engine.rates.limit(for: task) { request.slow(to: limit) }
        // A stream that is paused would hold up all others of its connection.
        if attempt.wantsOwnConnection, !isByHTTP2 { request.httpVersion = .http1 }
        let handle = engine.begin(request, sink: sink)
        valve.connect(handle)
        attempt.brake.watch(handle)
        let connection = Connection(
            number,
            route,
            startedAt: now,
            sink: sink,
            handle: handle
        )
        connections.append(connection)
        unattended.append(connection)
        attempt.live.open(connection)
        attempt.tellRequest(of: connection)
        return connection
    }

    /// Whether the body of this request may be kept until all of it is there.
    private func mayArrive(by route: Connection.Route) -> Bool {
        guard route.isLead, case .whole = route.ask, !attempt.holdsAnswer else { return false }
        let target = attempt.target
        return target.part == nil && target.file == nil && route.hop.url.isHTTP
    }

    /// Whether a request has to go out over a new connection to show another tag.
    private func isForTag(_ route: Connection.Route) -> Bool {
        guard case .sample = route.ask, route.isLead else { return false }
        return attempt.fetch.isAskingForTags
    }

    private func connection(_ number: TransferInbox.ConnectionNumber) -> Connection? {
        connections.first { $0.number == number }
    }

    /// A connection that is over no longer counts.
    private func remove(_ number: TransferInbox.ConnectionNumber) -> Connection? {
        guard let connection = connection(number) else { return nil }
        connections.removeAll { $0 === connection }
        attempt.live.close(connection)
        attempt.brake.release(connection.handle)
        engine.hosts.closed(
            connection.hop.url.origin,
            wasServed: connection.writer != nil || !connection.sink.kept.isEmpty,
            wasRefused: connection.isTurnedAway
        )
        if connection.isServed || !connection.sink.kept.isEmpty {
            attempt.fetch.sources.served(
                connection.source,
                isRange: connection.sink.head?.facts.status == 206,
                at: now
            )
        }
        if connection.isLead { attempt.headerBytes = connection.sink.headerBytes }
        return connection
    }

    /// Hears of the ends of the connections that are new.
    private func attendToEnds() {
        for connection in unattended {
            let sink = connection.sink
            connection.handle.whenEnded { sink.send(.ended($0)) }
        }
        unattended = []
    }

    // MARK: What happens

    /// Listens to the transfer thread until every connection is over.
    private func listen(to lead: Connection) async -> Result<End, TransferEnd> {
        let (inbox, interval, time) = (inbox, engine.checkpointInterval, engine.time)
        return await withDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            attendToEnds()
            var end: Result<End, TransferEnd>?
            var trouble: TransferEnd?
            var hasCheckpoints = false
            var isTicking = false
            var isDraining = false
            for await notice in inbox.notices {
                switch notice {
                case .planIsDue: isTicking = false
                case .drainIsDue: isDraining = false
                case .connection, .checkpointIsDue: break
                }
                do throws(TransferEnd) {
                    try await take(notice, of: lead, &end, isInTrouble: trouble != nil)
                } catch {
                    trouble = trouble ?? error
                    for connection in connections { connection.cut() }
                }
                attendToEnds()
                // Most small files are over before there is anything to make safe.
                if !hasCheckpoints, connections.contains(where: { $0.writer != nil }) {
                    hasCheckpoints = true
                    group.addTask {
                        while (try? await time.sleep(for: interval)) != nil {
                            inbox.send(.checkpointIsDue)
                        }
                    }
                }
                if !isTicking, needsPlanning {
                    isTicking = true
                    group.addTask {
                        guard (try? await time.sleep(for: Joining.interval)) != nil else { return }
                        inbox.send(.planIsDue)
                    }
                }
                // One for all of them, and none where the body has come with its head.
                if !isDraining, let patience = nextDrainEnd {
                    isDraining = true
                    group.addTask {
                        guard (try? await time.sleep(for: patience)) != nil else { return }
                        inbox.send(.drainIsDue)
                    }
                }
                if connections.isEmpty { break }
            }
            if let trouble { return .failure(trouble) }
            return sum(of: end)
        }
    }

    private func take(
        _ notice: TransferInbox.Notice,
        of lead: Connection,
        _ end: inout Result<End, TransferEnd>?,
        isInTrouble: Bool
    ) async throws(TransferEnd) {
        switch notice {
        case .connection(let number, .ended(let outcome)):
            guard let connection = remove(number) else { return }
            await connection.quiet()
            attempt.tellEnd(of: connection, outcome)
            if isInTrouble {
                await storage.keep(connection)
            } else if connection === lead {
                end = try await conclude(connection, outcome)
            } else {
                try await concludeJoined(connection, outcome)
            }
        case .connection(let number, let event):
            guard !isInTrouble, let connection = connection(number) else { return }
            try await take(event, of: connection)
        case .checkpointIsDue:
            if !isInTrouble {
                try await storage.checkpoint()
                leaveSharedConnection(lead)
            }
            return
        case .planIsDue: break
        case .drainIsDue: endLateDrains()
        }
        if !isInTrouble { plan() }
    }

    private func take(
        _ event: ResponseSink.Event,
        of connection: Connection
    ) async throws(TransferEnd) {
        switch event {
        case .headIsComplete:
            if connection.isLead {
                try await judge(connection)
            } else {
                try await judgeJoining(connection)
            }
        case .differs:
            let offset = connection.writer?.writtenEnd ?? 0
            attempt.tell(.differs, of: connection.number, ["at": .number(offset)])
            if try await storage.correct(connection) {
                connection.handle.resume()
            } else {
                connection.handle.cancel()
            }
        case .proven:
            attempt.tell(.proven, of: connection.number)
            try await storage.adopt(connection)
            connection.handle.resume()
            letJoin(connection)
        case .ended:
            break
        }
    }

    /// Has a first connection end that a limit slows down and whose HTTP/2 connection others may
    /// share: what is left is asked for by range, on a connection of its own.
    ///
    /// libcurl 7.88 reads nothing from an HTTP/2 connection while one of its streams is paused: with
    /// 10 kB/s for one of two downloads the other one stood still for 8 seconds.
    private func leaveSharedConnection(_ lead: Connection) {
        guard engine.rates.limit(for: attempt.job.task) != nil, lead.sink.isByHTTP2,
            lead.writer != nil, !lead.isComparing, !lead.isCut,
            !attempt.fetch.requests.isByHTTP2(Origin(lead.hop.url)), content.known.isResumable
        else { return }
        lead.cut()
    }

    /// How it ended, with what the others have brought.
    private func sum(of end: Result<End, TransferEnd>?) -> Result<End, TransferEnd> {
        if attempt.brake.isPulled { return .failure(.stopped) }
        // A first connection that failed does no harm where the others have brought the rest.
        if attempt.fetch.requests.joining != nil, content.isComplete {
            return .success(.exchanged(.stored))
        }
        return end ?? .failure(.stopped)
    }

    // MARK: Heads

    /// Decides, with the head of a first connection read and the body waiting, what to do with it.
    private func judge(_ connection: Connection) async throws(TransferEnd) {
        let judgement = judgement(of: connection)
        switch judgement {
        case .begin, .resume, .compare, .prove, .check:
            try await storage.open(connection, for: judgement)
            if let writer = connection.writer {
                let decoder = ContentDecoder(connection.answer.codings)
                connection.sink.direct(to: .writer(writer, decoder))
            }
            attempt.live.activity = .transferring
            connection.handle.resume()
        case .redirect, .askAgain, .complete, .fail:
            connection.dropBody(at: now)
        }
        connection.judgement = judgement
        letJoin(connection)
    }

    private func judgement(of connection: Connection) -> Judgement {
        guard let head = connection.sink.head else { return .fail(.badResponse("has no header")) }
        attempt.cookies.take(head.fields, from: connection.hop.url, at: engine.time.date)
        attempt.noteMirrors(in: head, from: connection)
        var answer = Fetch.Answer(
            head.facts,
            to: connection.ask,
            from: connection.source,
            at: Origin(connection.hop.url),
            isLead: connection.isLead
        )
        answer.isForTag = isForTag(connection.route)
        answer.keepsEncoding = attempt.isCompressed(head, connection.hop)
        answer.hostGivesSeveralTags = engine.hosts.hasSeveralTags(connection.hop.url.origin)
        connection.answer = answer
        let judgement = attempt.fetch.judge(answer)
        attempt.tell(judgement, on: head, of: connection)
        return judgement
    }

    // MARK: Bodies that are dropped

    /// How long the first of the bodies that are dropped is still waited for; nil where none is.
    private var nextDrainEnd: Duration? {
        connections.compactMap(\.drainsUntil).min().map { $0 - now }
    }

    /// Ends the connections whose bodies were to be dropped and have not come in their time.
    private func endLateDrains() {
        for connection in connections {
            if let end = connection.drainsUntil, end <= now { connection.endDrain() }
        }
    }

    // MARK: The end of the first connection

    /// Draws the sum of a request that is over.
    ///
    /// - Throws: what ends the whole transfer.
    /// - Returns: how the request ended; its failure counts where no other connection helps.
    private func conclude(
        _ connection: Connection,
        _ outcome: TransferOutcome
    ) async throws(TransferEnd) -> Result<End, TransferEnd> {
        let sink = connection.sink
        let reach = engine.network.reach(of: outcome)
        if sink.head != nil { attempt.noteAnswer(from: reach) }
        if attempt.brake.isPulled {
            await storage.keep(connection)
            throw .stopped
        }
        if let failure = sink.failure {
            await storage.keep(connection)
            return .failure(.failed(failure))
        }
        if connection.judgement == nil {
            // Nobody has judged the head yet: an empty file, one that came in one go, or no answer.
            guard outcome.result == .ok || !sink.kept.isEmpty else {
                return .failure(.failed(Failure(outcome, hadBody: false)))
            }
            guard sink.head != nil else { return .failure(.failed(.noAnswer)) }
            let late = judgement(of: connection)
            connection.judgement = late
            switch late {
            case .begin(let version) where try await storage.arrive(version, by: connection):
                return .success(.exchanged(.stored))
            case .begin, .resume, .compare, .prove, .check:
                try await storage.open(connection, for: late)
            case .redirect, .askAgain, .complete, .fail: break
            }
        }
        switch connection.judgement {
        case .redirect(let location): return .success(.redirected(to: location, from: reach))
        case .askAgain(let next, let version): return .success(.exchanged(.again(next, version)))
        case .fail(let failure):
            let job = attempt.job
            engine.noteRest(failure, at: connection.hop, of: job.task, job.request)
            return .failure(.failed(failure))
        case .complete(let version):
            attempt.fetch.content.know(version)
            return .success(.exchanged(.complete))
        case .begin, .resume, .compare, .prove, .check, nil:
            return try await concludeBody(of: connection, outcome)
        }
    }

    private func concludeBody(
        of connection: Connection,
        _ outcome: TransferOutcome
    ) async throws(TransferEnd) -> Result<End, TransferEnd> {
        let sink = connection.sink
        let isAll = connection.isSated
        let isMore = showsAnotherSize(connection)
        try await storage.settle(connection)
        if isMore { return .success(.exchanged(.again(.whole, RemoteVersion()))) }
        let isWhole = outcome.result == .ok || sink.isFull || connection.isCut || isAll
        switch connection.proof {
        // The content changed: it is fetched from zero, and nothing is mixed.
        case .failed: return .success(.exchanged(.again(.whole, RemoteVersion())))
        case .succeeded: return .success(.exchanged(.equal))
        // Less came than the proof needs.
        case .sample, .rest:
            if isWhole { return .success(.exchanged(.again(.whole, content.known))) }
        case nil: break
        }
        if isWhole { return .success(.exchanged(.stored)) }
        return .failure(.failed(Failure(outcome, hadBody: true)))
    }

    /// Whether more has come by FTP than the server has announced: what it says of the length is
    /// not believed again.
    private func showsAnotherSize(_ connection: Connection) -> Bool {
        guard connection.hop.url.isFTP, connection.ask.end == nil,
            let writer = connection.writer, writer.isOverfull, writer.end == content.known.total
        else { return false }
        attempt.fetch.distrustSize()
        return true
    }
}

// MARK: - Connections that join

// None of them can fail the transfer.
extension Conversation {
    /// From now on others may join a first connection, where several may bring what it brings; how
    /// many there may be changes while it runs.
    private func letJoin(_ lead: Connection) {
        guard lead.bringsFile, mayBeJoined(lead) else { return }
        attempt.hops = [lead.source: lead.hop]
        attempt.fetch.requests.joining = Joining(
            source: lead.source,
            headTime: now - lead.startedAt,
            chosen: choice.number,
            known: engine.hosts.useful(lead.hop.url.origin),
            stored: content.stored.byteCount,
            at: now
        )
    }

    private func mayBeJoined(_ lead: Connection) -> Bool {
        let known = content.known
        // A server may ignore FTP's REST and send the file from its first byte. To tell such servers
        // from others took more code than several connections saved time, so there is one.
        guard lead.hop.url.isHTTP, let total = known.total, !known.refusesRanges,
            known.strongValidator != nil || attempt.fetch.hasDigest
        else { return false }
        if lead.sink.isByHTTP2, attempt.fetch.requests.isByHTTP2(Origin(lead.hop.url)) {
            return false
        }
        // A first byte in the middle would stop all transfers while the kernel fills what is before.
        return attempt.target.hasHoles && total - content.stored.byteCount > RampUp.smallestRest
    }

    /// Lets a connection in whose head fits, and turns every other away.
    private func judgeJoining(_ connection: Connection) async throws(TransferEnd) {
        let judgement = judgement(of: connection)
        connection.judgement = judgement
        guard case .resume(let version) = judgement, case .part(let range, _) = connection.ask
        else { return turnAway(connection, judgement) }
        attempt.fetch.requests.joining?.headCame(after: now - connection.startedAt)
        attempt.hops[connection.source] = connection.hop
        try await attempt.note(version)
        guard takesOver(connection, range), storage.join(connection, range),
            let writer = connection.writer
        else { return connection.cut() }
        connection.sink.direct(to: .writer(writer, nil))
        connection.handle.resume()
    }

    /// Leaves to a connection what it splits off another's piece.
    ///
    /// - Returns: false where nothing of it is left: the other was faster than expected.
    private func takesOver(_ connection: Connection, _ range: ByteRange) -> Bool {
        guard case .split(let number) = connection.role, let victim = self.connection(number),
            let writer = victim.writer
        else { return true }
        guard writer.position < range.end else { return false }
        writer.leave(from: range.first)
        // A piece on its way may still go beyond.
        let isPast = writer.position > range.first
        if isPast || victim.source != connection.source { attempt.verifier.noteOverlap() }
        if writer.rest == nil { victim.cut() }
        return true
    }

    private func turnAway(_ connection: Connection, _ judgement: Judgement) {
        connection.dropBody(at: now)
        switch judgement {
        case .redirect(let location):
            follow(location, from: connection)
        case .askAgain(let ask, _) where ask == connection.ask.unconditional:
            // The host answers If-Range as if the content had changed: ask without.
            var shy = content.known
            shy.dislikesIfRange = true
            attempt.fetch.content.know(shy)
            var route = connection.route
            route.ask = ask
            connect(route)
        case .fail(let failure):
            refuse(connection, failure)
        case .begin, .resume, .compare, .prove, .check, .complete, .askAgain:
            // No ranges after all, or another version than the one that is being stored.
            if !dropSource(of: connection) { attempt.fetch.requests.joining?.close() }
        }
    }

    private func follow(_ location: String, from connection: Connection) {
        var route = connection.route
        route.redirects += 1
        let hop = try? connection.hop.following(location, from: connection.hop.apparentReach)
        guard route.redirects <= Hop.limit, let hop else { return giveUp(connection) }
        route.hop = hop
        connect(route)
    }

    private func refuse(_ connection: Connection, _ failure: Failure) {
        let status = connection.sink.head?.facts.status ?? 0
        let isRefusal = [403, 429, 503].contains(status)
        if !isRefusal, dropSource(of: connection) { return }
        // A link that was signed for one use: the task's own URL may give another.
        if [403, 404, 410].contains(status), !connection.hop.isHome, !connection.isFromHome,
            attempt.fetch.requests.joining?.homeIsNoHelp == false,
            connection.source == attempt.fetch.sources.position
        {
            var route = connection.route
            route.hop = attempt.firstHop
            route.redirects = 0
            route.isFromHome = true
            connect(route)
            return
        }
        if connection.isFromHome { attempt.fetch.requests.joining?.noteThatHomeIsNoHelp() }
        guard isRefusal else {
            attempt.fetch.requests.joining?.failed(after: 0, at: now)
            return
        }
        connection.turnAway()
        refused(connection, wasClosed: false, retryAfter: failure.retryAfter)
    }

    /// The host gives no further connection.
    private func refused(_ connection: Connection, wasClosed: Bool, retryAfter: Duration?) {
        engine.hosts.refused(
            connection.hop.url.origin,
            wasClosed: wasClosed,
            retryAfter: retryAfter
        )
        let host = connection.hop.url.host
        attempt.tell(.refused, of: connection.number, ["host": .text(host)])
        if !dropSource(of: connection) { attempt.fetch.requests.joining?.refused(at: now) }
    }

    /// A connection has failed after so many bytes.
    private func giveUp(_ connection: Connection, after bytes: Int64 = 0) {
        if !dropSource(of: connection) {
            attempt.fetch.requests.joining?.failed(after: bytes, at: now)
        }
    }

    /// Has a source bring nothing further that failed, or was slow, where another does better.
    ///
    /// - Returns: false where it is the source of the first connection, which is never given up.
    @discardableResult
    private func dropSource(of connection: Connection) -> Bool {
        guard let joining = attempt.fetch.requests.joining, connection.source != joining.source
        else { return false }
        attempt.fetch.sources.drop(connection.source)
        return true
    }

    /// Draws the sum of a connection that had joined, or was to.
    private func concludeJoined(
        _ connection: Connection,
        _ outcome: TransferOutcome
    ) async throws(TransferEnd) {
        guard let writer = connection.writer else {
            guard connection.judgement == nil else { return }
            if connection.isCut {
                // Others have brought its part before it had answered at all.
                dropSource(of: connection)
            } else if outcome.isRefusal {
                refused(connection, wasClosed: true, retryAfter: nil)
            } else {
                giveUp(connection)
            }
            return
        }
        try await storage.settle(connection)
        let brought = max(0, writer.writtenEnd - writer.start)
        guard !connection.isCut else { return }
        if connection.sink.isFull || (outcome.result == .ok && brought > 0) {
            attempt.fetch.requests.joining?.succeeded()
        } else {
            giveUp(connection, after: brought)
        }
    }
}

// MARK: - The plan

extension Conversation {
    /// A source that further connections may ask, and the host that they come to.
    private struct Place {
        let source: Int
        let origin: URLReference.Origin
    }

    /// Whether the plan has to be looked at again in a while.
    private var needsPlanning: Bool {
        guard let joining = attempt.fetch.requests.joining else { return false }
        // Alone and without hope of company there is nothing to plan.
        return !connections.isEmpty && (connections.count > 1 || !joining.isClosed)
    }

    /// Gives what is missing to as many connections as are of use.
    private func plan() {
        guard !attempt.brake.isPulled else { return }
        // What is left to do after a failure is the next attempt's.
        guard storage.isReceiving else { return giveUpSilentOnes() }
        // What a cut leaves is given away at once.
        for _ in 0..<2 {
            guard let steps = currentPlan()?.steps else { return }
            for step in steps { perform(step) }
            guard steps.contains(where: \.isEnd) else { return }
        }
    }

    /// Ends those that were to join and are not answered, once they are all that is left: what
    /// they were to bring is asked for on a connection that the host may serve.
    private func giveUpSilentOnes() {
        guard let joining = attempt.fetch.requests.joining else { return }
        let waiting = connections.filter { !$0.isCut }
        let areSilent = waiting.allSatisfy {
            $0.judgement == nil && joining.isSilence(now - $0.startedAt)
        }
        guard areSilent, !waiting.isEmpty else { return }
        attempt.fetch.requests.noteSilence()
        for connection in waiting { connection.cut() }
    }

    private func currentPlan() -> SegmentPlan? {
        guard let joining = attempt.fetch.requests.joining, let total = content.known.total else {
            return nil
        }
        let (now, task) = (now, attempt.job.task)
        let places = places(of: joining)
        let look = Joining.Look(
            now: now,
            total: total,
            stored: storage.taken,
            pieces: connections.compactMap { $0.piece(at: now) },
            served: connections.count { $0.isServed },
            chosen: choice.number,
            ceiling: choice.number ?? engine.connectionsPerDownload,
            room: Set(places.map(\.origin)).reduce(0) { $0 + engine.hosts.room($1) },
            places: places.count,
            isAwaited: places.contains { engine.hosts.isAwaited($0.origin) },
            servesRanges: content.known.servesRanges,
            share: engine.rates.share(of: task),
            isHeldBack: engine.rates.holdsBack(task)
        )
        let plan = attempt.fetch.requests.plan(look)
        if let found = attempt.fetch.requests.joining?.finding, let only = places.first {
            engine.hosts.learned(only.origin, useful: found)
        }
        return plan
    }

    private func perform(_ step: SegmentPlan.Step) {
        switch step {
        case .open(let range):
            send(for: range, as: .gap)
        case .split(let number, let range):
            send(for: range, as: .split(of: number))
        case .race(let number, let range):
            if let slow = connection(number) { dropSource(of: slow) }
            send(for: range, as: .race(with: number))
        case .cut(let number):
            connection(number)?.cut()
        case .replace(let number):
            attempt.fetch.requests.joining?.replacedOne()
            guard let slow = connection(number) else { return }
            dropSource(of: slow)
            slow.cut()
        }
    }

    /// Asks the source that is the least busy for a part.
    private func send(for range: ByteRange, as role: Connection.Role) {
        guard let joining = attempt.fetch.requests.joining, let place = freestPlace(of: joining)
        else { return }
        let ask = attempt.fetch.ask(for: range, of: place.source)
        let hop = attempt.hop(to: place.source)
        connect(Connection.Route(ask: ask, hop: hop, role: role, source: place.source))
    }

    /// The sources that may bring parts, that of the first connection before the others.
    private func places(of joining: Joining) -> [Place] {
        attempt.fetch.sources.besides(joining.source, hasDigest: attempt.fetch.hasDigest)
            .map { Place(source: $0, origin: attempt.hop(to: $0).url.origin) }
    }

    /// Where the fewest connections of this transfer are, and another has room.
    ///
    /// A mirror that has not answered yet is not asked a second time: it may never answer.
    private func freestPlace(of joining: Joining) -> Place? {
        let places = places(of: joining).filter { place in
            place.source == joining.source
                || !connections.contains { $0.source == place.source && $0.judgement == nil }
        }
        let free = places.filter { engine.hosts.room($0.origin) > 0 }
        return (free.isEmpty ? Array(places.prefix(1)) : free).min { load(of: $0) < load(of: $1) }
    }

    private func load(of place: Place) -> Int {
        connections.count { $0.source == place.source && !$0.isCut }
    }
}

extension SegmentPlan.Step {
    /// Whether it ends a connection.
    fileprivate var isEnd: Bool {
        switch self {
        case .cut, .replace: true
        case .open, .split, .race: false
        }
    }
}

extension TransferOutcome {
    /// Whether a host may have ended it so that gives no further connection.
    fileprivate var isRefusal: Bool {
        switch result {
        case .gotNothing, .receiveError, .sendError: true
        case .couldNotConnect: osError == ECONNREFUSED
        default: false
        }
    }
}
