// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

extension Transfer {
    enum RequestEnd {
        case ended(ExchangeEnd)
        /// `from` is how far the host is that said so.
        case redirected(to: String, from: SocketAddress.Reach)
    }

    /// Sends one request and sees its response through, with all connections that join it.
    func request(_ ask: Ask, at hop: Hop) async throws(TransferEnd) -> RequestEnd {
        guard !brake.isPulled else { throw .stopped }
        try leaveAlone(hop)
        live.activity = .connecting
        guard await engine.hosts.enter(hop.url.origin, brake) else { throw .stopped }
        let inbox = TransferInbox()
        joining = nil
        let route = Connection.Route(
            ask: ask,
            hop: hop,
            role: .lead,
            source: fetch.sources.position
        )
        let lead = connect(route, inbox)
        let end = await converse(lead, inbox)
        let origin = hop.url.origin
        if mayRefuseHTTP1(lead, end) {
            originsOfHTTP2.insert(origin)
            return try await request(ask, at: hop)
        }
        // It was not that.
        if !lead.sink.isByHTTP2 { originsOfHTTP2.remove(origin) }
        return try end.get()
    }

    /// Whether a host may speak nothing but HTTP/2: no head has come to a part that was asked for, or
    /// one that refuses the version (RFC 9110 sections 15.5.22 and 15.6.6, and what proxies say).
    private func mayRefuseHTTP1(
        _ lead: Connection,
        _ end: Result<RequestEnd, TransferEnd>
    ) -> Bool {
        guard case .failure(.failed(let failure)) = end, !lead.sink.isByHTTP2,
            lead.ask.isPartial, lead.hop.url.scheme == "https",
            !originsOfHTTP2.contains(lead.hop.url.origin)
        else { return false }
        guard let head = lead.sink.head else {
            return failure.code == .serverBadResponse
                || (failure.isTransient && [.networkTLS, .networkReset].contains(failure.code))
        }
        return [426, 464, 505].contains(head.facts.status)
    }

    /// Sends a request on a connection of its own; a first one has its place at the host already.
    @discardableResult
    func connect(_ route: Connection.Route, _ inbox: TransferInbox) -> Connection {
        lastConnection += 1
        var (before, isByHTTP2) = (0, false)
        if case .lead = route.role {
            before = headerBytes
            isByHTTP2 = originsOfHTTP2.contains(route.hop.url.origin)
        } else {
            engine.hosts.opened(route.hop.url.origin)
        }
        let valve = engine.rates.valve(for: job.task)
        let sink = ResponseSink(
            number: lastConnection,
            reader: HeadReader(bytesBefore: before, now: engine.time.date),
            inbox: inbox,
            valve: valve,
            keepsSmallBody: mayArrive(by: route)
        )
        var request = route.hop.request(
            route.ask,
            isByHTTP2: isByHTTP2,
            for: engine.options(for: job.request, login: login, cookies: cookies)
        )
        if isForTag(route) { request.reuse = .never }
        if let limit = engine.rates.limit(for: job.task) { request.slow(to: limit) }
        let handle = engine.begin(request, sink: sink)
        valve.connect(handle)
        brake.watch(handle)
        let connection = Connection(
            lastConnection,
            route,
            startedAt: engine.hosts.now,
            sink: sink,
            handle: handle
        )
        connections.append(connection)
        unattended.append(connection)
        live.connections = connections.count
        return connection
    }

    /// Listens to the transfer thread until every connection is over.
    private func converse(
        _ lead: Connection,
        _ inbox: TransferInbox
    ) async -> Result<RequestEnd, TransferEnd> {
        await withDiscardingTaskGroup { group in
            let (interval, time) = (engine.checkpointInterval, engine.time)
            defer { group.cancelAll() }
            attendToEnds()
            var end: Result<RequestEnd, TransferEnd>?
            var trouble: TransferEnd?
            var hasCheckpoints = false
            var isTicking = false
            var isDraining = false
            for await notice in inbox.notices {
                do throws(TransferEnd) {
                    switch notice {
                    case .connection(let number, .ended(let outcome)):
                        guard let connection = remove(number) else { continue }
                        if trouble != nil {
                            await keep(connection)
                        } else if connection === lead {
                            end = try await conclude(connection, outcome)
                        } else {
                            try await concludeJoined(connection, outcome)
                        }
                    case .connection(let number, let event):
                        guard trouble == nil, let connection = connection(number) else { continue }
                        try await take(event, of: connection, inbox)
                    case .checkpointIsDue:
                        if trouble == nil { try await checkpoint() }
                        continue
                    case .planIsDue:
                        isTicking = false
                    case .drainIsDue:
                        isDraining = false
                        endLateDrains()
                    }
                    if trouble == nil { plan(inbox) }
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

    /// How it ended, with what the others have brought.
    private func sum(
        of end: Result<RequestEnd, TransferEnd>?
    ) -> Result<RequestEnd, TransferEnd> {
        if brake.isPulled { return .failure(.stopped) }
        // A first connection that failed does no harm where the others have brought the rest.
        if joining != nil, content.isComplete { return .success(.ended(.stored)) }
        return end ?? .failure(.stopped)
    }

    /// Hears of the ends of the connections that are new.
    private func attendToEnds() {
        for connection in unattended {
            let sink = connection.sink
            connection.handle.whenEnded { sink.send(.ended($0)) }
        }
        unattended = []
    }

    func connection(_ number: TransferInbox.ConnectionNumber) -> Connection? {
        connections.first { $0.number == number }
    }

    /// A connection that is over no longer counts.
    private func remove(_ number: TransferInbox.ConnectionNumber) -> Connection? {
        guard let connection = connection(number) else { return nil }
        connections.removeAll { $0 === connection }
        live.connections = connections.count
        brake.release(connection.handle)
        engine.hosts.closed(
            connection.hop.url.origin,
            wasServed: connection.writer != nil || !connection.sink.kept.isEmpty,
            wasRefused: connection.isTurnedAway
        )
        if case .lead = connection.role { headerBytes = connection.sink.headerBytes }
        return connection
    }

    private func take(
        _ event: ResponseSink.Event,
        of connection: Connection,
        _ inbox: TransferInbox
    ) async throws(TransferEnd) {
        switch event {
        case .headIsComplete:
            if case .lead = connection.role {
                try await judge(connection)
            } else {
                try await judgeJoining(connection, inbox)
            }
        case .differs:
            if try await standsCorrected(connection) {
                connection.handle.resume()
            } else {
                connection.handle.cancel()
            }
        case .proven:
            try await adopt(connection)
            connection.handle.resume()
            if canBeJoined(connection) { letJoin(connection) }
        case .ended:
            break
        }
    }
}
