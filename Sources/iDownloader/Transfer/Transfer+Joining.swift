// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import iDownState

// Connections that join the first one: none of them can fail the transfer.
extension Transfer {
    /// The most connections that this task may have.
    var ceiling: Int {
        min(ownCeiling, mostServed ?? .max)
    }

    /// The most that it may have as far as we have a say in it.
    var ownCeiling: Int { choice.number ?? engine.connectionsPerDownload }

    /// Whether what the connection brings may be brought by several at once; how many there may be
    /// changes while it runs.
    func canBeJoined(_ lead: Connection) -> Bool {
        switch lead.judgement {
        case .begin, .resume: break
        case .prove where lead.proof == nil: break
        case .prove, .compare, .check, .complete, .askAgain, .redirect, .fail, nil: return false
        }
        let known = content.known
        guard let total = known.total, known.strongValidator != nil, !known.refusesRanges,
            !(lead.sink.isByHTTP2 && originsOfHTTP2.contains(lead.hop.url.origin))
        else { return false }
        // A server may ignore FTP's REST and send the file from its first byte. To tell such servers
        // from others took more code than several connections saved time, so there is one.
        guard lead.hop.url.isHTTP else { return false }
        // A first byte in the middle would stop all transfers while the kernel fills what is before.
        guard target.hasHoles else { return false }
        return total - content.stored.byteCount > RampUp.smallestRest
    }

    /// From now on others may join.
    func letJoin(_ lead: Connection) {
        joining = Joining(
            lead,
            chosen: choice.number,
            known: engine.hosts.useful(lead.hop.url.origin),
            stored: content.stored.byteCount,
            at: engine.hosts.now
        )
    }

    /// Lets a connection in whose head fits, and turns every other away.
    func judgeJoining(
        _ connection: Connection,
        _ inbox: TransferInbox
    ) async throws(TransferEnd) {
        let judgement = judgement(of: connection)
        connection.judgement = judgement
        guard case .resume(let version) = judgement, case .part(let range, _) = connection.ask
        else {
            turnAway(connection, judgement, inbox)
            return
        }
        joining?.headCame(after: engine.hosts.now - connection.startedAt)
        joining?.hops[connection.source] = connection.hop
        try await note(version)
        join(connection, range)
    }

    /// Records what an answer has shown of the version.
    func note(_ version: RemoteVersion) async throws(TransferEnd) {
        guard version != content.known else { return }
        fetch.content.know(version)
        guard let file = target.file, version != ledger.version else { return }
        try await ledger.commit(.opened(file, version, keeping: content.synced))
    }

    private func join(_ connection: Connection, _ range: ByteRange) {
        guard let part = target.part, takesOver(connection) else { return connection.cut() }
        if content.stored.meets(range) { verifier.noteOverlap() }
        if case .race = connection.role { verifier.noteOverlap() }
        let writer = SegmentWriter(part, from: range.first, to: range.end)
        connection.store(in: writer, at: engine.hosts.now)
        fetch.content.join(from: connection.source)
        live.follow(writer)
        connection.sink.direct(to: .writer(writer))
        connection.handle.resume()
    }

    /// Leaves to a connection what it splits off another's piece.
    ///
    /// - Returns: false where nothing of it is left: the other was faster than expected.
    func takesOver(_ connection: Connection) -> Bool {
        guard case .part(let range, _) = connection.ask else { return true }
        if case .split(let number) = connection.role, let victim = self.connection(number),
            let writer = victim.writer
        {
            guard writer.position < range.end else { return false }
            writer.leave(from: range.first)
            // A piece on its way may still go beyond.
            let isPast = writer.position > range.first
            if isPast || victim.source != connection.source { verifier.noteOverlap() }
            if writer.rest == nil { victim.cut() }
        }
        return true
    }

    // MARK: Those that do not fit

    private func turnAway(
        _ connection: Connection,
        _ judgement: Judgement,
        _ inbox: TransferInbox
    ) {
        dropBody(of: connection)
        switch judgement {
        case .redirect(let location):
            follow(location, from: connection, inbox)
        case .askAgain(let ask, _) where ask == connection.ask.unconditional:
            // The host answers If-Range as if the content had changed: ask without.
            var shy = content.known
            shy.dislikesIfRange = true
            fetch.content.know(shy)
            var route = connection.route
            route.ask = connection.ask.unconditional
            connect(route, inbox)
        case .fail(let failure):
            refuse(connection, failure, inbox)
        case .begin, .resume, .compare, .prove, .check, .complete, .askAgain:
            // No ranges after all, or another version than the one that is being stored.
            if !dropSource(of: connection) { joining?.isClosed = true }
        }
    }

    private func follow(_ location: String, from connection: Connection, _ inbox: TransferInbox) {
        var route = connection.route
        route.redirects += 1
        let hop = try? connection.hop.following(location, from: connection.hop.apparentReach)
        guard route.redirects <= Hop.limit, let hop else {
            if !dropSource(of: connection) { joining?.failed(after: 0, at: engine.hosts.now) }
            return
        }
        route.hop = hop
        connect(route, inbox)
    }

    private func refuse(_ connection: Connection, _ failure: Failure, _ inbox: TransferInbox) {
        let status = connection.sink.head?.facts.status ?? 0
        let isRefusal = [403, 429, 503].contains(status)
        if !isRefusal, dropSource(of: connection) { return }
        // A link that was signed for one use: the task's own URL may give another.
        if [403, 404, 410].contains(status), !connection.hop.isHome, !connection.isFromHome,
            joining?.homeIsNoHelp == false, connection.source == fetch.sources.position
        {
            var route = connection.route
            route.hop = firstHop
            route.redirects = 0
            route.isFromHome = true
            connect(route, inbox)
            return
        }
        if connection.isFromHome { joining?.homeIsNoHelp = true }
        guard isRefusal else {
            joining?.failed(after: 0, at: engine.hosts.now)
            return
        }
        connection.turnAway()
        engine.hosts.refused(
            connection.hop.url.origin,
            wasClosed: false,
            retryAfter: failure.retryAfter
        )
        if !dropSource(of: connection) { joining?.refused(at: engine.hosts.now) }
    }

    // MARK: Their ends

    /// Draws the sum of a connection that had joined, or was to.
    func concludeJoined(
        _ connection: Connection,
        _ outcome: TransferOutcome
    ) async throws(TransferEnd) {
        guard let writer = connection.writer else {
            guard connection.judgement == nil else { return }
            if connection.isCut {
                // Others have brought its part before it had answered at all.
                dropSource(of: connection)
            } else {
                missed(connection, outcome)
            }
            return
        }
        try await settle(connection)
        let brought = max(0, writer.writtenEnd - writer.start)
        guard !connection.isCut else { return }
        if connection.sink.isFull || (outcome.result == .ok && brought > 0) {
            joining?.succeeded()
        } else if !dropSource(of: connection) {
            joining?.failed(after: brought, at: engine.hosts.now)
        }
    }

    /// No head came.
    private func missed(_ connection: Connection, _ outcome: TransferOutcome) {
        guard !outcome.isRefusal else {
            engine.hosts.refused(connection.hop.url.origin, wasClosed: true, retryAfter: nil)
            if !dropSource(of: connection) { joining?.refused(at: engine.hosts.now) }
            return
        }
        if !dropSource(of: connection) { joining?.failed(after: 0, at: engine.hosts.now) }
    }
}

extension TransferOutcome {
    /// Whether a host may have ended it so that gives no further connection.
    fileprivate var isRefusal: Bool {
        switch result {
        case .gotNothing, .receiveError, .sendError: true
        case .couldNotConnect: osError == ECONNREFUSED
        // Too many users (RFC 959 section 4.2): as 421, or as a login that is refused.
        case .weirdServerReply, .timedOut: status == 421
        case .loginDenied: [421, 430, 530].contains(status)
        default: false
        }
    }
}
