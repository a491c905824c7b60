// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

// The first connection of a request: what it is told decides what becomes of the file.
extension Transfer {
    /// A body that is dropped is waited for at least so long, however soon its head came.
    private static let shortestDrain: Duration = .milliseconds(250)
    /// And never longer than this: what is to be done is known already.
    private static let longestDrain: Duration = .seconds(2)

    /// Decides, with the head read and the body waiting, what to do with it.
    func judge(_ connection: Connection) async throws(TransferEnd) {
        let judgement = judgement(of: connection)
        switch judgement {
        case .begin, .resume, .compare, .prove, .check:
            try await open(connection, for: judgement)
            await storeKept(of: connection)
            if let writer = connection.writer { connection.sink.direct(to: .writer(writer)) }
            live.activity = .transferring
            connection.handle.resume()
        case .redirect, .askAgain, .complete, .fail:
            dropBody(of: connection)
        }
        connection.judgement = judgement
        if canBeJoined(connection) { letJoin(connection) }
    }

    /// A short body is read to its end, so that the connection can be used again, if it comes as
    /// soon as another connection would.
    func dropBody(of connection: Connection) {
        guard connection.sink.isDrainable else { return connection.handle.cancel() }
        if connection.sink.drain() { connection.handle.resume() }
        guard !connection.sink.isDrained else { return }
        let now = engine.hosts.now
        let time = (now - connection.startedAt) * 2
        connection.drain(until: now + min(max(time, Self.shortestDrain), Self.longestDrain))
    }

    /// How long the first of the bodies that are dropped is still waited for; nil where none is.
    var nextDrainEnd: Duration? {
        connections.compactMap(\.drainsUntil).min().map { $0 - engine.hosts.now }
    }

    /// Ends the connections whose bodies were to be dropped and have not come in their time.
    func endLateDrains() {
        let now = engine.hosts.now
        for connection in connections {
            if let end = connection.drainsUntil, end <= now { connection.endDrain() }
        }
    }

    func judgement(of connection: Connection) -> Judgement {
        guard let head = connection.sink.head else { return .fail(.badResponse("has no header")) }
        cookies.take(head.fields, from: connection.hop.url, at: engine.time.date)
        noteMirrors(in: head, from: connection)
        let isLead = if case .lead = connection.role { true } else { false }
        var answer = Fetch.Answer(
            head.facts,
            to: connection.ask,
            from: connection.source,
            at: Origin(connection.hop.url),
            isLead: isLead
        )
        answer.isForTag = isForTag(connection.route)
        answer.keepsEncoding = isCompressed(head, connection.hop)
        answer.hostGivesSeveralTags = engine.hosts.hasSeveralTags(connection.hop.url.origin)
        connection.answer = answer
        return fetch.judge(answer)
    }

    /// Whether a request has to go out over a new connection to show another tag.
    func isForTag(_ route: Connection.Route) -> Bool {
        guard case .sample = route.ask, case .lead = route.role else { return false }
        return fetch.isAskingForTags
    }

    /// Whether the file that comes encoded is itself a compressed one, by its type or by the name
    /// that it has or is to get: the URL's path says something only where a given name does not.
    private func isCompressed(_ head: ResponseHead, _ hop: Hop) -> Bool {
        guard head.facts.contentEncoding != nil else { return false }
        let name =
            target.file?.name ?? wantedName(head, hop).names(limit: target.nameLimit).first?.text
        let telling = name.flatMap { $0.contains(".") ? $0 : nil } ?? hop.url.path
        return CompressedFile.isMeant(mimeType: head.facts.mimeType, name: telling)
    }

    /// Draws the sum of a request that is over.
    ///
    /// - Throws: what ends the whole transfer.
    /// - Returns: how the request ended; its failure counts where no other connection helps.
    func conclude(
        _ connection: Connection,
        _ outcome: TransferOutcome
    ) async throws(TransferEnd) -> Result<RequestEnd, TransferEnd> {
        let sink = connection.sink
        if sink.head != nil {
            let host = engine.network.reach(of: outcome)
            furthestHost = max(host, furthestHost ?? host)
        }
        if brake.isPulled {
            await keep(connection)
            throw .stopped
        }
        if let failure = sink.failure {
            await keep(connection)
            return .failure(.failed(failure))
        }
        if connection.judgement == nil {
            // Nobody has judged the head yet: an empty file, one that came in one go, or no answer.
            guard outcome.result == .ok || !sink.kept.isEmpty else {
                return .failure(.failed(Failure(outcome, hadBody: false)))
            }
            guard sink.head != nil else {
                return .failure(
                    .failed(
                        Failure(
                            .networkReset,
                            "The connection ended before the server had answered. A later try may succeed.",
                            isTransient: true
                        )
                    )
                )
            }
            let late = judgement(of: connection)
            switch late {
            case .begin(let version) where try await arrive(version, by: connection):
                connection.judgement = late
                return .success(.ended(.stored))
            case .begin, .resume, .compare, .prove, .check:
                try await open(connection, for: late)
                await storeKept(of: connection)
            case .redirect, .askAgain, .complete, .fail: break
            }
            connection.judgement = late
        }
        switch connection.judgement {
        case .redirect(let location):
            return .success(.redirected(to: location, from: engine.network.reach(of: outcome)))
        case .askAgain(let next, let version): return .success(.ended(.again(next, version)))
        case .fail(let failure):
            noteRest(failure, at: connection.hop)
            return .failure(.failed(failure))
        case .complete(let version):
            fetch.content.know(version)
            return .success(.ended(.complete))
        case .begin, .resume, .compare, .prove, .check, nil:
            let isAll = connection.isSated
            let isMore = showsAnotherSize(connection)
            try await settle(connection)
            if isMore { return .success(.ended(.again(.whole, RemoteVersion()))) }
            let isWhole = outcome.result == .ok || sink.isFull || connection.isCut || isAll
            if let end = proofEnd(of: connection, isWhole: isWhole) {
                return .success(.ended(end))
            }
            guard isWhole else {
                // libcurl's word for bytes behind the end of what it decodes.
                if connection.ask == .decoded, outcome.result == .writeError {
                    return .failure(.failed(.badResponse("cannot be decoded")))
                }
                return .failure(.failed(Failure(outcome, hadBody: true)))
            }
            return .success(.ended(.stored))
        }
    }
}
