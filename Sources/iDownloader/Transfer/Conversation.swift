// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import iDownState

/// One request on a lead connection with its answer, and the connections that join it.
///
/// Belongs to its transfer's actor. One loop handles all events in order, so that no two decisions
/// about one file are made at the same time.
final class Conversation {
    enum End {
        case answered(Questions.Answer)
        /// `from` is how far away the redirecting host is.
        case redirected(to: String, from: SocketAddress.Reach)
        /// The host may speak HTTP/2 only, or have the file only with a Content-Encoding: the same
        /// request is repeated, and says so.
        case repeated
    }

    private let attempt: Attempt
    private let storage: Storage
    private let inbox = TransferInbox()
    /// The open connections, oldest first.
    private var connections: [Connection] = []
    /// The requests whose dropped bodies may take this time at most, until timers for them are set.
    private var drains: [(request: TransferHandle, patience: Duration)] = []

    init(_ attempt: Attempt, _ storage: Storage) {
        self.attempt = attempt
        self.storage = storage
    }

    private var engine: Engine { attempt.engine }
    private var content: Content { attempt.fetch.content }
    private var now: Duration { engine.hosts.now }

    /// Sends one request and handles its response, with all connections that join it.
    ///
    /// - Parameters:
    ///   - ask: the range or other question to send.
    ///   - hop: the URL to request; the host has already granted the lead connection its place.
    /// - Returns: how the request ended.
    /// - Throws: the end of the transfer, or the failure of this source.
    func request(_ ask: Ask, at hop: Hop) async throws(TransferEnd) -> End {
        let source = attempt.fetch.sources.position
        let (number, route) = attempt.fetch.requests.begin(ask, of: source, at: now)
        let lead = connect(number, route, at: hop)
        let end = await listen(to: lead)
        let status = lead.sink.head?.facts.status
        if !ask.isPartial, attempt.fetch.requests.acceptsCodings(after: status, at: hop.origin) {
            return .repeated
        }
        guard !lead.sink.isByHTTP2 else { return try end.get() }
        let isByHTTP1Alone = ask.isPartial || attempt.wantsOwnConnection
        if case .failure(.failed(let failure)) = end, hop.url.scheme == "https", isByHTTP1Alone,
            attempt.fetch.requests.asksByHTTP2(after: failure, status: status, at: hop.origin)
        {
            return .repeated
        }
        attempt.fetch.requests.speaksHTTP1(hop.origin)
        return try end.get()
    }

    // MARK: Connections

    /// Opens a connection and sends a request on it.
    @discardableResult
    private func connect(
        _ number: TransferInbox.ConnectionNumber,
        _ route: Requests.Route,
        at hop: Hop
    ) -> Connection {
        var (before, isByHTTP2) = (0, false)
        if route.role == .lead {
            before = attempt.headerBytes
            isByHTTP2 = attempt.fetch.requests.isByHTTP2(hop.origin)
        } else {
            engine.hosts.opened(hop.origin, of: attempt.controls)
        }
        let task = attempt.job.task
        let valve = engine.rates.valve(for: task)
        let driver = engine.driver(of: hop.url, for: attempt.job.request.directory)
        let sink = ResponseSink(
            number: number,
            reader: HeadReader(bytesBefore: before, now: engine.time.date),
            inbox: inbox,
            valve: valve,
            ownDisk: driver.ownDisk,
            refusalsOfPart: refusals(of: route.ask),
            keepsSmallBody: mayArrive(by: route, at: hop)
        )
        var request = hop.request(route.ask, isByHTTP2: isByHTTP2, for: attempt)
        if isForTag(route) { request.reuse = .never }
        if let limit = engine.rates.limit(for: task) { request.slow(to: limit) }
        // Over HTTP/2, a paused stream would block all other streams of its connection.
        if attempt.wantsOwnConnection, !isByHTTP2 { request.httpVersion = .http1 }
        // Progress shows the connection before the server gets the request.
        attempt.live.open(number, at: hop.url, asking: route.ask, answeredTo: sink)
        let handle = engine.begin(request, by: driver.driver, sink: sink)
        valve.connect(handle)
        attempt.controls.watch(handle) { handle.cancel() }
        let connection = Connection(number, route, at: hop, sink: sink, handle: handle)
        connections.append(connection)
        handle.whenEnded { sink.send(.ended($0)) }
        attempt.tell(request, of: connection)
        return connection
    }

    /// The replies with which an FTP server refuses to send a part, after it has accepted REST.
    ///
    /// 554 always means that (RFC 1123 section 4.1.3.4). 451 may be an error that passes, so it counts
    /// only where the last attempt ended at a busy server.
    private func refusals(of ask: Ask) -> Set<Int> {
        guard ask.isPartial else { return [] }
        return attempt.job.record.failure?.code == .serverBusy ? [451, 554] : [554]
    }

    /// Whether the body of this request may be kept in memory until it is complete.
    private func mayArrive(by route: Requests.Route, at hop: Hop) -> Bool {
        guard route.role == .lead, case .whole = route.ask, !attempt.holdsAnswer else {
            return false
        }
        let target = attempt.target
        return target.part == nil && target.file == nil && hop.url.isHTTP
    }

    /// Whether a request needs a new connection, so that another server may answer with another
    /// ETag.
    private func isForTag(_ route: Requests.Route) -> Bool {
        guard case .sample = route.ask, route.role == .lead else { return false }
        return attempt.fetch.isAskingForTags
    }

    private func connection(_ number: TransferInbox.ConnectionNumber) -> Connection? {
        connections.first { $0.number == number }
    }

    /// Ends a connection; the bytes that it has brought are kept.
    private func cut(_ connection: Connection) {
        attempt.fetch.requests.cut(connection.number)
        connection.handle.cancel()
    }

    /// Returns the decisions about a connection; nil if there is no such connection.
    private func state(of connection: Connection) -> Requests.Connection? {
        attempt.fetch.requests[connection.number]
    }

    /// Removes a connection that is over and reports its end to host, source and progress.
    private func remove(_ number: TransferInbox.ConnectionNumber) -> Connection? {
        guard let connection = connection(number) else { return nil }
        connections.removeAll { $0 === connection }
        attempt.live.close(number)
        attempt.controls.release(connection.handle)
        engine.hosts.closed(
            connection.hop.origin,
            of: attempt.controls,
            wasServed: connection.writer != nil || !connection.sink.kept.isEmpty,
            wasRefused: state(of: connection)?.isTurnedAway == true
        )
        let isRange = connection.sink.head?.facts.status == 206
        if isRange || connection.isServed || !connection.sink.kept.isEmpty {
            attempt.fetch.sources.served(connection.route.source, isRange: isRange, at: now)
        }
        if connection.isLead { attempt.headerBytes = connection.sink.headerBytes }
        return connection
    }

    // MARK: Events

    /// Handles events of the transfer thread until every connection is over.
    private func listen(to lead: Connection) async -> Result<End, TransferEnd> {
        let (inbox, interval, time) = (inbox, engine.checkpointInterval, engine.time)
        return await withDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            var end: Result<End, TransferEnd>?
            var trouble: TransferEnd?
            var hasCheckpoints = false
            var isTicking = false
            func run(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
                group.addTask {
                    guard (try? await time.sleep(for: delay)) != nil else { return }
                    body()
                }
            }
            for await notice in inbox.notices {
                if case .planIsDue = notice { isTicking = false }
                do throws(TransferEnd) {
                    try await take(notice, of: lead, &end, isInTrouble: trouble != nil)
                } catch {
                    trouble = trouble ?? error
                    for connection in connections { cut(connection) }
                }
                // Most small files are complete before a checkpoint is needed.
                if !hasCheckpoints, connections.contains(where: { $0.writer != nil }) {
                    hasCheckpoints = true
                    group.addTask {
                        while (try? await time.sleep(for: interval)) != nil {
                            inbox.wantCheckpoint()
                        }
                    }
                }
                if !isTicking, attempt.fetch.requests.needsPlanning {
                    isTicking = true
                    run(after: Joining.interval) { inbox.send(.planIsDue) }
                }
                for (request, patience) in drains { run(after: patience) { request.cancel() } }
                drains = []
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
            defer { attempt.fetch.requests.closed(number) }
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
            inbox.beginCheckpoint()
            if !isInTrouble {
                // This comes first because a checkpoint takes long on a slow disk.
                leaveSharedConnection(lead)
                try await storage.checkpoint()
            }
            return
        case .planIsDue: leaveSharedConnection(lead)
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
        case .compared(.differs):
            let offset = connection.writer?.writtenEnd ?? 0
            attempt.tell(.differs, of: connection.number, ["at": .number(offset)])
            if try await storage.correct(connection) {
                connection.handle.resume()
            } else {
                connection.handle.cancel()
            }
        case .compared(.proven):
            attempt.tell(.proven, of: connection.number)
            try await storage.adopt(connection)
            connection.handle.resume()
            allowJoining(connection)
        case .ended:
            break
        }
    }

    /// Ends a lead connection that shares an HTTP/2 connection while a limit or the disk slows it
    /// down.
    ///
    /// The rest is then requested by range, on a connection of its own. libcurl 7.88 reads nothing
    /// from an HTTP/2 connection while one of its streams is paused: with a limit of 10 kB/s for
    /// one of two downloads, the other stood still for 8 seconds. libcurl also copies the received
    /// bytes of a stream at each pause: one disk of 20 MB/s used up the transfer thread.
    private func leaveSharedConnection(_ lead: Connection) {
        // If a link may work only once, a slow disk does less harm than a second request.
        let isServedAgain = (attempt.fetch.requests.joining?.served ?? 0) > 1
        guard lead.sink.isByHTTP2, let writer = lead.writer,
            (writer.isSlowerThanLine && isServedAgain)
                || engine.rates.limit(for: attempt.job.task) != nil,
            let state = state(of: lead), !state.isComparing, !state.isCut,
            !attempt.fetch.requests.isByHTTP2(lead.hop.origin), content.known.isResumable
        else { return }
        cut(lead)
    }

    /// Returns the end of the request, considering the bytes that other connections have brought.
    private func sum(of end: Result<End, TransferEnd>?) -> Result<End, TransferEnd> {
        if attempt.controls.isStopped { return .failure(.stopped) }
        // A failed lead connection does not matter if the others have brought the rest.
        if attempt.fetch.requests.joining != nil, content.isComplete {
            return .success(.answered(.stored))
        }
        return end ?? .failure(.stopped)
    }

    // MARK: Heads

    /// Judges the head of a lead connection whose body is paused, and starts to store or drops the
    /// body.
    private func judge(_ connection: Connection) async throws(TransferEnd) {
        let judgement = judgement(of: connection)
        switch judgement {
        case .begin, .resume, .compare, .prove, .check:
            try await storage.open(connection, for: judgement)
            if let writer = connection.writer {
                let codings = state(of: connection)?.codings ?? []
                connection.sink.direct(to: .writer(writer, ContentDecoder(codings)))
            }
            attempt.live.activity = .transferring
            connection.handle.resume()
        case .redirect, .askAgain, .complete, .fail: dropBody(of: connection)
        }
        allowJoining(connection)
    }

    private func judgement(of connection: Connection) -> Judgement {
        guard let head = connection.sink.head else { return .fail(.badResponse("has no header")) }
        attempt.cookies.take(head.fields, from: connection.hop.url, at: engine.time.date)
        attempt.noteMirrors(in: head, from: connection)
        var answer = Fetch.Answer(head.facts, on: connection.route, at: connection.hop.origin)
        answer.path = connection.hop.url.path
        answer.isForTag = isForTag(connection.route)
        answer.isOpenEnded = connection.sink.isOpenEnded
        answer.keepsEncoding = attempt.isCompressed(head, connection.hop)
        answer.hostGivesSeveralTags = engine.hosts.hasSeveralTags(connection.hop.origin)
        let judgement = attempt.fetch.judge(answer, over: connection.number)
        attempt.tell(judgement, on: head, of: connection)
        switch judgement {
        case .begin, .resume, .compare, .prove, .check, .complete:
            engine.hosts.answered(by: connection.hop.origin)
        case .redirect, .askAgain, .fail: break
        }
        return judgement
    }

    private func dropBody(of connection: Connection) {
        guard let state = state(of: connection),
            let patience = connection.dropBody(after: now - state.startedAt)
        else { return }
        drains.append((connection.handle, patience))
    }

    // MARK: The end of the lead connection

    /// Decides how the request of a lead connection ended.
    ///
    /// - Throws: the end of the whole transfer.
    /// - Returns: how the request ended; a failure counts only if the other connections do not
    ///   bring the rest.
    private func conclude(
        _ connection: Connection,
        _ outcome: TransferOutcome
    ) async throws(TransferEnd) -> Result<End, TransferEnd> {
        let sink = connection.sink
        let reach = engine.network.reach(of: outcome)
        // A file server may answer with a reply before there is anything like a head.
        let hasReply = connection.hop.url.isFTP && outcome.status > 0
        if sink.head != nil || hasReply { attempt.noteAnswer(from: reach) }
        if attempt.controls.isStopped {
            noteOffer(of: connection)
            await storage.keep(connection)
            throw .stopped
        }
        if let failure = sink.failure {
            await storage.keep(connection)
            return .failure(.failed(failure))
        }
        var judgement = state(of: connection)?.judgement
        if judgement == nil {
            // The head was not judged yet: an empty file, a body that came at once, or no answer.
            guard outcome.result == .ok || !sink.kept.isEmpty else {
                noteOffer(of: connection)
                // Mirrors, and targets of a redirect that have brought nothing, are strangers.
                let hasBrought = content.known.isFromElsewhere && !content.stored.isEmpty
                let isHostKnown =
                    attempt.fetch.sources.urls.count == 1
                    && (connection.hop.isOfHomeHost
                        ? attempt.job.record.hostHasAnswered : hasBrought)
                let failure = Failure(outcome, hadBody: false, isHostKnown: isHostKnown)
                return .failure(.failed(failure))
            }
            guard sink.head != nil else { return .failure(.failed(.noAnswer)) }
            let late = self.judgement(of: connection)
            judgement = late
            let isEncoded = state(of: connection)?.codings.isEmpty == false
            switch late {
            case .begin(let version) where try await storage.arrive(version, by: connection):
                return .success(.answered(.stored))
            case .begin where sink.endsWithConnection && isEncoded:
                return .failure(.failed(.withoutStream))
            case .begin, .resume, .compare, .prove, .check:
                try await storage.open(connection, for: late)
            case .redirect, .askAgain, .complete, .fail: break
            }
        }
        switch judgement {
        case .redirect(let location): return .success(.redirected(to: location, from: reach))
        case .askAgain(let next, let version): return .success(.answered(.again(next, version)))
        case .fail(let failure):
            let job = attempt.job
            engine.noteRest(failure, at: connection.hop, of: job.task, job.request)
            return .failure(.failed(failure))
        case .complete(let version):
            attempt.fetch.content.know(version)
            return .success(.answered(.complete))
        case .begin, .resume, .compare, .prove, .check, nil:
            return try await concludeBody(of: connection, outcome)
        }
    }

    /// Keeps what a head offers whose body never came, so that a web page in a later answer is known
    /// as one; a browser that waits for the answer has it still.
    private func noteOffer(of connection: Connection) {
        guard attempt.target.file == nil, !attempt.holdsAnswer, connection.sink.head != nil,
            state(of: connection)?.judgement == nil,
            case .begin(let version) = judgement(of: connection)
        else { return }
        attempt.fetch.content.know(version)
    }

    private func concludeBody(
        of connection: Connection,
        _ outcome: TransferOutcome
    ) async throws(TransferEnd) -> Result<End, TransferEnd> {
        let sink = connection.sink
        let isAll = connection.hasBroughtAll
        let isMore = showsAnotherSize(connection)
        try await storage.settle(connection)
        if isMore {
            var version = content.known
            version.total = nil
            return .success(.answered(.again(.whole, version)))
        }
        let isCut = state(of: connection)?.isCut == true
        let isWhole = outcome.result == .ok || sink.isFull || isCut || isAll
        if let answer = attempt.fetch.answer(connection.number, isWhole: isWhole) {
            return .success(.answered(answer))
        }
        let failure = outcome.result == .ok ? .endedEarly : Failure(outcome, hadBody: true)
        return .failure(.failed(attempt.fetch.endedShort(failure, connection.number)))
    }

    /// Whether the server sent more than the recorded size, and has not announced it: an FTP server,
    /// whose sizes are not trusted again, or an answer without a length to which an earlier one's
    /// was applied.
    private func showsAnotherSize(_ connection: Connection) -> Bool {
        guard let writer = connection.writer, writer.isOverfull, writer.end == content.known.total
        else { return false }
        guard connection.hop.url.isFTP else {
            return attempt.fetch.onlyRemembersSize(connection.number)
        }
        guard connection.route.ask.end == nil else { return false }
        attempt.fetch.distrustSize()
        return true
    }
}

// MARK: - Connections that join

extension Conversation {
    /// Allows further connections to join the lead connection, if its answer can be split.
    ///
    /// Not allowed if the file cannot have holes: a first byte in the middle would make the kernel
    /// write everything before it, which would block all transfers.
    private func allowJoining(_ lead: Connection) {
        guard attempt.target.hasHoles,
            attempt.fetch.allowJoining(
                lead.number,
                isByHTTP2: lead.sink.isByHTTP2,
                useful: engine.hosts.useful(lead.hop.origin),
                at: now
            )
        else { return }
        attempt.hops = [lead.route.source: lead.hop]
    }

    /// Lets a connection join if its head fits, and drops it otherwise.
    private func judgeJoining(_ connection: Connection) async throws(TransferEnd) {
        let judgement = judgement(of: connection)
        guard case .resume(let version) = judgement, case .part(let range, _) = connection.route.ask
        else {
            dropBody(of: connection)
            let steps = attempt.fetch.turnAway(connection.number, at: now)
            return perform(steps, for: connection)
        }
        attempt.fetch.headFits(connection.number, at: now)
        attempt.hops[connection.route.source] = connection.hop
        try await attempt.note(version)
        guard takesOver(connection, range), storage.join(connection, range),
            let writer = connection.writer
        else { return cut(connection) }
        connection.sink.direct(to: .writer(writer, nil))
        connection.handle.resume()
    }

    /// Hands a connection the range that it splits off another connection's segment.
    ///
    /// - Returns: false if the other connection has already brought the whole range.
    private func takesOver(_ connection: Connection, _ range: ByteRange) -> Bool {
        guard case .split(let number) = connection.route.role,
            let other = self.connection(number), let writer = other.writer
        else { return true }
        guard writer.position < range.end else { return false }
        writer.leave(from: range.first)
        // The other connection may still write bytes beyond its new end.
        let isPast = writer.position > range.first
        if isPast || other.route.source != connection.route.source {
            attempt.verifier.noteOverlap()
        }
        if writer.rest == nil { cut(other) }
        return true
    }

    /// Decides how a further connection ended, and what to do next.
    private func concludeJoined(
        _ connection: Connection,
        _ outcome: TransferOutcome
    ) async throws(TransferEnd) {
        var end = Fetch.JoinedEnd.empty(isRefusal: outcome.isRefusal)
        if let writer = connection.writer {
            try await storage.settle(connection)
            let brought = max(0, writer.writtenEnd - writer.start)
            let isAll = connection.sink.isFull || (outcome.result == .ok && brought > 0)
            end = .brought(brought, isAll: isAll)
        }
        perform(attempt.fetch.ended(connection.number, end, at: now), for: connection)
    }

    /// Assigns the missing ranges to as many connections as are useful.
    private func plan() {
        guard attempt.fetch.requests.joining != nil, !attempt.controls.isStopped else { return }
        let task = attempt.job.task
        let places = attempt.fetch.partSources.map { source in
            let host = attempt.hop(to: source).origin
            // No connection is added at a host that is in back-off.
            let rests = engine.hosts.rest(of: host, for: task) != nil
            return Joining.Look.Place(
                source: source,
                host: host,
                room: rests ? 0 : engine.hosts.room(host),
                isAwaited: engine.hosts.isAwaited(host)
            )
        }
        var look = Joining.Look(at: now)
        look.taken = attempt.live.taken
        look.progress = storage.progress
        look.chosen = attempt.controls.connections
        look.ceiling = attempt.controls.connections ?? engine.connectionsPerDownload
        look.places = places
        look.share = engine.rates.share(of: task)
        look.isHeldBack = engine.rates.holdsBack(task)
        perform(attempt.fetch.plan(look))
    }

    /// Carries out decisions.
    ///
    /// - Parameters:
    ///   - steps: the decisions, in order.
    ///   - connection: the connection whose head or end caused them; nil if none did.
    private func perform(_ steps: [Requests.Step], for connection: Connection? = nil) {
        for step in steps {
            switch step {
            case .connect(let number, let route, let way):
                if let hop = hop(of: route, way, from: connection) {
                    connect(number, route, at: hop)
                } else {
                    // The redirect may not be followed, so the connection failed before it was
                    // made.
                    let end = Fetch.JoinedEnd.empty(isRefusal: false)
                    perform(attempt.fetch.ended(number, end, at: now))
                    attempt.fetch.requests.closed(number)
                }
            case .extend(let number, let end):
                if self.connection(number)?.writer?.extend(to: end) == true {
                    attempt.verifier.noteOverlap()
                }
            case .cut(let number):
                self.connection(number)?.handle.cancel()
            case .refused(let wasClosed, let retryAfter):
                guard let connection else { continue }
                let origin = connection.hop.origin
                engine.hosts.refused(
                    origin,
                    wasClosed: wasClosed,
                    retryAfter: retryAfter,
                    by: attempt.job.request
                )
                let host = connection.hop.url.host
                attempt.tell(.refused, of: connection.number, ["host": .text(host)])
            case .learned(let useful, let source):
                let origin = attempt.hop(to: source).origin
                engine.hosts.learned(origin, useful: useful, by: attempt.job.request)
            }
        }
    }

    /// Returns where to make a connection; nil if its redirect may not be followed.
    private func hop(of route: Requests.Route, _ way: Requests.Way, from last: Connection?) -> Hop?
    {
        switch way {
        case .toSource: attempt.hop(to: route.source)
        case .samePlace: last?.hop
        case .redirected(let location):
            last.flatMap { try? $0.hop.following(location, from: $0.hop.apparentReach) }
        case .home: attempt.firstHop
        }
    }
}

extension TransferOutcome {
    /// Whether a host that allows no further connection may have ended the transfer like this.
    fileprivate var isRefusal: Bool {
        switch result {
        case .gotNothing, .receiveError, .sendError: true
        case .couldNotConnect: osError == ECONNREFUSED
        default: false
        }
    }
}
