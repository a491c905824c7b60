// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

extension Transfer {
    enum RequestEnd {
        case ended(ExchangeEnd)
        case redirected(to: String)
    }

    /// A longer body costs more than another connection.
    private static let longestDrained = 64 << 10

    /// Sends one request and sees its response through, with all connections that join it.
    func request(_ ask: Ask, at hop: Hop) async throws(TransferEnd) -> RequestEnd {
        guard !brake.isPulled else { throw .stopped }
        live.activity = .connecting
        let inbox = TransferInbox()
        let lead = connect(ask, at: hop, inbox)
        return try await converse(lead, inbox).get()
    }

    /// Sends a request on a connection of its own.
    private func connect(_ ask: Ask, at hop: Hop, _ inbox: TransferInbox) -> Connection {
        lastConnection += 1
        let sink = ResponseSink(
            number: lastConnection,
            reader: HeadReader(bytesBefore: headerBytes),
            inbox: inbox
        )
        let request = hop.request(ask, for: engine.options(for: job.request))
        let handle = engine.pool.begin(request, sink: sink)
        brake.watch(handle)
        let connection = Connection(lastConnection, ask, at: hop, sink: sink, handle: handle)
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
        await withTaskGroup(of: Void.self) { group in
            let interval = engine.checkpointInterval
            group.addTask {
                while (try? await Task.sleep(for: interval)) != nil {
                    inbox.send(.checkpointIsDue)
                }
            }
            defer { group.cancelAll() }
            attendToEnds(in: &group)
            var end: RequestEnd?
            var trouble: TransferEnd?
            for await notice in inbox.notices {
                do throws(TransferEnd) {
                    switch notice {
                    case .connection(let number, .ended(let outcome)):
                        guard let connection = remove(number) else { continue }
                        guard trouble == nil else { await keep(connection); break }
                        end = try await finish(connection, outcome)
                    case .connection(let number, let event):
                        guard trouble == nil, let connection = connection(number) else { continue }
                        try await take(event, of: connection)
                    case .checkpointIsDue:
                        if trouble == nil { try await checkpoint() }
                    }
                } catch {
                    trouble = trouble ?? error
                    for connection in connections { connection.handle.cancel() }
                }
                attendToEnds(in: &group)
                if connections.isEmpty { break }
            }
            if let end, trouble == nil { return .success(end) }
            return .failure(trouble ?? .stopped)
        }
    }

    /// Waits for the ends of the connections that are new.
    private func attendToEnds(in group: inout TaskGroup<Void>) {
        for connection in unattended {
            let (sink, handle) = (connection.sink, connection.handle)
            group.addTask { sink.send(.ended(await handle.outcome())) }
        }
        unattended = []
    }

    private func connection(_ number: TransferInbox.ConnectionNumber) -> Connection? {
        connections.first { $0.number == number }
    }

    /// A connection that is over no longer counts.
    private func remove(_ number: TransferInbox.ConnectionNumber) -> Connection? {
        guard let connection = connection(number) else { return nil }
        connections.removeAll { $0 === connection }
        live.connections = connections.count
        brake.release(connection.handle)
        headerBytes = connection.sink.headerBytes
        return connection
    }

    private func take(
        _ event: ResponseSink.Event,
        of connection: Connection
    ) async throws(TransferEnd) {
        switch event {
        case .headIsComplete:
            try await judge(connection)
        case .differs:
            if try await standsCorrected(connection) {
                connection.handle.resume()
            } else {
                connection.handle.cancel()
            }
        case .proven:
            try await adopt(connection)
            connection.handle.resume()
        case .ended:
            break
        }
    }

    /// Decides, with the head read and the body waiting, what to do with it.
    private func judge(_ connection: Connection) async throws(TransferEnd) {
        let (sink, handle) = (connection.sink, connection.handle)
        let judgement = judgement(of: connection)
        switch judgement {
        case .begin, .resume, .compare, .prove, .check:
            try await open(connection, for: judgement)
            if let writer = connection.writer { sink.direct(to: .writer(writer)) }
            live.activity = .transferring
            handle.resume()
        case .redirect, .askAgain, .complete, .fail:
            // A short body is read to its end, so that the connection can be used again.
            let length = sink.head?.facts.contentLength.bytes ?? .max
            if length <= Self.longestDrained {
                sink.direct(to: .nowhere(remaining: Self.longestDrained))
                handle.resume()
            } else {
                handle.cancel()
            }
        }
        connection.judgement = judgement
    }

    private func judgement(of connection: Connection) -> Judgement {
        guard let head = connection.sink.head else { return .fail(.badResponse("has no head")) }
        noteMirrors(in: head, at: connection.hop)
        let facts = facts(of: head)
        if let refusal = refusal(of: facts) { return .fail(refusal) }
        return facts.judge(
            asked: connection.ask,
            known: known,
            onDisk: stored,
            keepsEncoding: CompressedFile.isMeant(
                mimeType: head.facts.mimeType,
                urlPath: connection.hop.url.path
            )
        )
    }

    /// Draws the sum of a request that is over.
    private func finish(
        _ connection: Connection,
        _ outcome: TransferOutcome
    ) async throws(TransferEnd) -> RequestEnd {
        let sink = connection.sink
        if brake.isPulled {
            await keep(connection)
            throw .stopped
        }
        if let failure = sink.failure {
            await keep(connection)
            throw .failed(failure)
        }
        if connection.judgement == nil {
            // No body came, so nobody has judged the head yet: an empty file, or no answer.
            guard outcome.result == .ok else { throw .failed(Failure(outcome, hadBody: false)) }
            guard sink.head != nil else {
                throw .failed(
                    Failure(.networkReset, "the connection ended in the head", isTransient: true)
                )
            }
            let late = judgement(of: connection)
            switch late {
            case .begin, .resume, .compare, .prove, .check:
                try await open(connection, for: late)
            case .redirect, .askAgain, .complete, .fail: break
            }
            connection.judgement = late
        }
        switch connection.judgement {
        case .redirect(let location): return .redirected(to: location)
        case .askAgain(let next, let version): return .ended(.again(next, version))
        case .fail(let failure): throw .failed(failure)
        case .complete(let version):
            known = version
            return .ended(.complete)
        case .begin, .resume, .compare, .prove, .check, nil:
            try await settle(connection)
            let isWhole = outcome.result == .ok || sink.isFull
            if let end = proofEnd(of: connection, isWhole: isWhole) { return .ended(end) }
            guard isWhole else { throw .failed(Failure(outcome, hadBody: true)) }
            return .ended(.stored)
        }
    }
}
