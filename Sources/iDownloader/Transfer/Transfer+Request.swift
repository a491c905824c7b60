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

    /// Sends one request and sees its response through.
    func request(_ ask: Ask, at hop: Hop) async throws(TransferEnd) -> RequestEnd {
        guard !brake.isPulled else { throw .stopped }
        live.activity = .connecting
        let sink = ResponseSink(reader: HeadReader(bytesBefore: headerBytes), live: live)
        let handle = engine.pool.begin(
            hop.request(ask, for: engine.options(for: job.request)),
            sink: sink
        )
        brake.watch(handle)
        live.connections = 1
        let conversation = await converse(ask, hop, sink, handle)
        live.connections = 0
        headerBytes = sink.headerBytes
        return try conversation.get()
    }

    /// Listens to the transfer thread until the request is over.
    private func converse(
        _ ask: Ask,
        _ hop: Hop,
        _ sink: ResponseSink,
        _ handle: TransferHandle
    ) async -> Result<RequestEnd, TransferEnd> {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { sink.send(.ended(await handle.outcome())) }
            let interval = engine.checkpointInterval
            group.addTask {
                while (try? await Task.sleep(for: interval)) != nil {
                    sink.send(.checkpointIsDue)
                }
            }
            defer { group.cancelAll() }
            var judged: Judgement?
            var trouble: TransferEnd?
            for await event in sink.events {
                do throws(TransferEnd) {
                    switch event {
                    case .headIsComplete:
                        judged = try await judge(ask, hop, sink, handle)
                    case .checkpointIsDue:
                        if writer != nil, trouble == nil { try await checkpoint() }
                    case .differs:
                        try await cut()
                        handle.resume()
                    case .ended(let outcome):
                        if let trouble { throw trouble }
                        return .success(try await finish(judged, outcome, ask, hop, sink))
                    }
                } catch {
                    if case .ended = event { return .failure(error) }
                    trouble = trouble ?? error
                    handle.cancel()
                }
            }
            return .failure(trouble ?? .stopped)
        }
    }

    /// Decides, with the head read and the body waiting, what to do with it.
    private func judge(
        _ ask: Ask,
        _ hop: Hop,
        _ sink: ResponseSink,
        _ handle: TransferHandle
    ) async throws(TransferEnd) -> Judgement? {
        let judgement = judgement(of: sink.head, ask, hop)
        switch judgement {
        case .begin, .resume, .compare:
            try await open(for: judgement, sink.head, hop)
            if let writer { sink.direct(to: .writer(writer)) }
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
        return judgement
    }

    private func judgement(of head: ResponseHead?, _ ask: Ask, _ hop: Hop) -> Judgement {
        guard let head else { return .fail(.badResponse("has no head")) }
        return head.facts.judge(
            asked: ask,
            known: known,
            onDisk: stored,
            keepsEncoding: CompressedFile.isMeant(
                mimeType: head.facts.mimeType,
                urlPath: hop.url.path
            )
        )
    }

    /// Draws the sum of a request that is over.
    private func finish(
        _ judged: Judgement?,
        _ outcome: TransferOutcome,
        _ ask: Ask,
        _ hop: Hop,
        _ sink: ResponseSink
    ) async throws(TransferEnd) -> RequestEnd {
        if brake.isPulled { throw .stopped }
        if let failure = sink.failure { throw .failed(failure) }
        var judgement = judged
        if judgement == nil {
            // No body came, so nobody has judged the head yet: an empty file, or no answer.
            guard outcome.result == .ok else { throw .failed(Failure(outcome, hadBody: false)) }
            guard sink.head != nil else {
                throw .failed(
                    Failure(.networkReset, "the connection ended in the head", isTransient: true)
                )
            }
            let late = self.judgement(of: sink.head, ask, hop)
            switch late {
            case .begin, .resume, .compare: try await open(for: late, sink.head, hop)
            case .redirect, .askAgain, .complete, .fail: break
            }
            judgement = late
        }
        switch judgement {
        case .redirect(let location): return .redirected(to: location)
        case .askAgain(let next, let version): return .ended(.again(next, version))
        case .fail(let failure): throw .failed(failure)
        case .complete(let version):
            known = version
            return .ended(.complete)
        case .begin, .resume, .compare, nil:
            try await settle()
            guard outcome.result == .ok || sink.isFull else {
                throw .failed(Failure(outcome, hadBody: true))
            }
            return .ended(.stored)
        }
    }
}
