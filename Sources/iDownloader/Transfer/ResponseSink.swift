// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
import iDownState

/// Receives one response on the transfer thread and tells the transfer what it needs to decide.
///
/// The body waits until somebody says where it goes: the head is judged before a byte is stored.
final class ResponseSink: TransferSink {
    enum Event: Sendable {
        /// The head is complete and wants to be judged; body bytes wait until then.
        case headIsComplete
        /// The bytes that have come differ from those on disk; they wait.
        case differs
        /// The bytes that were to prove what is on disk are equal; what follows them waits.
        case proven
        case ended(TransferOutcome)
    }

    /// Where the body goes.
    enum Target: Sendable {
        case undecided
        /// Stored, decoded by the decoder where there is one.
        case writer(SegmentWriter, ContentDecoder?)
        /// Read and dropped, so that the connection can be used again; no more than this.
        case nowhere(remaining: Int)
    }

    fileprivate struct State: Sendable {
        var reader: HeadReader
        var target = Target.undecided
        var failure: Failure?
        /// The segment's end was reached although the server sends on.
        var isFull = false
        var hasAsked = false
        /// Somebody has judged the head, and wants nothing of the body.
        var isRejected = false
        /// A small body as far as it has come, while nobody has said where it goes.
        var kept: [UInt8] = []
    }

    /// A longer body costs more than another connection.
    fileprivate static let longestDrained = 64 << 10

    /// A body that is no longer than this is kept until all of it is there, if it comes at once.
    static let longestKept: Int64 = 64 << 10

    private let number: TransferInbox.ConnectionNumber
    private let inbox: TransferInbox
    private let state: Mutex<State>
    private let valve: RateValve
    private let keepsSmallBody: Bool

    /// - Parameters:
    ///   - number: the connection whose response this is.
    ///   - reader: knows the headers that came before.
    ///   - inbox: where events go.
    ///   - valve: holds the body to the limits.
    ///   - keepsSmallBody: whether a small body may be kept, to be made a file of in one go.
    init(
        number: TransferInbox.ConnectionNumber,
        reader: HeadReader,
        inbox: TransferInbox,
        valve: RateValve,
        keepsSmallBody: Bool = false
    ) {
        self.keepsSmallBody = keepsSmallBody
        self.number = number
        self.inbox = inbox
        self.valve = valve
        state = Mutex(State(reader: reader))
    }

    /// The head, once it is complete.
    var head: ResponseHead? { state.withLock { $0.reader.head } }

    /// The bytes of all heads so far, which the transfer's limit counts.
    var headerBytes: Int { state.withLock { $0.reader.headerBytes } }

    var failure: Failure? { state.withLock { $0.failure } }

    var isFull: Bool { state.withLock { $0.isFull } }

    /// The bytes that were kept; they go before all that comes.
    var kept: [UInt8] { state.withLock { $0.kept } }

    /// Whether the body is short enough to be read to its end, so that the connection can be used
    /// again.
    var isDrainable: Bool { state.withLock { $0.isDrainable } }

    /// Whether the head came by HTTP/2.
    var isByHTTP2: Bool { state.withLock { $0.reader.isByHTTP2 } }

    /// Whether nothing but the connection's end tells where the body ends (RFC 9112 section 6.3).
    var endsWithConnection: Bool {
        guard let head, !isByHTTP2, head.facts.contentLength == .unknown else { return false }
        return !head.fields.members("transfer-encoding").contains { $0.isWord("chunked") }
    }

    /// Whether all that the body was announced to have was read and dropped: its end follows.
    ///
    /// By HTTP/2 libcurl waits for the stream's end, whatever has come.
    var isDrained: Bool {
        state.withLock { state in
            guard case .nowhere(let remaining) = state.target, !state.reader.isByHTTP2 else {
                return false
            }
            return Int64(Self.longestDrained - remaining) >= state.announcedLength
        }
    }

    /// Has the body read and dropped.
    ///
    /// - Returns: whether the transfer is to be resumed; not where that was begun already.
    func drain() -> Bool {
        state.withLock { state in
            state.isRejected = true
            if case .nowhere = state.target { return false }
            state.target = .nowhere(remaining: Self.longestDrained)
            return true
        }
    }

    /// Says where the body goes; the transfer is resumed afterwards.
    func direct(to target: Target) { state.withLock { $0.target = target } }

    /// Tells the transfer what the lane finds out, and reads on when there is room.
    func listener(resuming handle: TransferHandle) -> SegmentWriter.Listener {
        { [number, inbox] verdict in
            switch verdict {
            case .differs: inbox.send(.connection(number, .differs))
            case .proven: inbox.send(.connection(number, .proven))
            case nil: handle.resume()
            }
        }
    }

    func send(_ event: Event) {
        var event = event
        if case .ended(let outcome) = event {
            valve.disconnect()
            if let facts = ResponseFacts(refusalOfPart: outcome.result) {
                take(facts, isFinal: true)
            }
            event = .ended(decoded(outcome))
        }
        inbox.send(.connection(number, event))
    }

    /// The outcome with what decoding the body has shown: libcurl knows nothing of it.
    private func decoded(_ outcome: TransferOutcome) -> TransferOutcome {
        guard case .writer(_, let decoder?) = state.withLock({ $0.target }),
            let flaw = outcome.result == .ok ? decoder.flawAtEnd : decoder.flaw
        else { return outcome }
        var outcome = outcome
        switch flaw {
        case .damaged:
            outcome.result = .badContentEncoding
            outcome.message = "The server's compressed answer is damaged and cannot be read"
        case .tooLarge:
            outcome.result = .badContentEncoding
            outcome.message = "The server's compressed answer takes too much memory to decode"
        case .cutOff:
            outcome.result = .partialFile
            outcome.message = "the compressed body has no end"
        case .noMemory:
            outcome.result = .localFailure
            outcome.message = "there is no memory to decode the server's answer"
        }
        return outcome
    }

    // MARK: On the transfer thread

    func receive(headerLine: UnsafeRawBufferPointer) -> HeaderVerdict {
        state.withLock { state in
            do throws(Failure) {
                try state.reader.read(line: headerLine)
                // libcurl has asked again by itself: what comes now is not of the answer before.
                if state.reader.head == nil, !state.isRejected, case .nowhere = state.target {
                    state.target = .undecided
                }
                // What brings no file is acted upon at once: its body may never come.
                if let head = state.reader.head, !state.hasAsked,
                    !(200..<300).contains(head.facts.status)
                {
                    state.hasAsked = true
                    // Nor is it of any use: it is over before anybody has to wait for it.
                    if state.isDrainable { state.target = .nowhere(remaining: Self.longestDrained) }
                    send(.headIsComplete)
                }
                return .proceed
            } catch {
                state.failure = error
                return .abort
            }
        }
    }

    func receive(remoteFile: RemoteFile) -> HeaderVerdict {
        let facts = ResponseFacts(remoteFile)
        take(facts, isFinal: !(200..<300).contains(facts.status))
        return .proceed
    }

    /// Takes a head that did not come in lines, unless there is one.
    ///
    /// - Parameters:
    ///   - facts: what it says.
    ///   - isFinal: no body follows that would have the head judged.
    private func take(_ facts: ResponseFacts, isFinal: Bool) {
        let wantsJudgement = state.withLock { state in
            guard state.reader.head == nil else { return false }
            state.reader.take(facts)
            guard isFinal, !state.hasAsked else { return false }
            state.hasAsked = true
            return true
        }
        if wantsJudgement { send(.headIsComplete) }
    }

    func receive(body: UnsafeRawBufferPointer) -> BodyVerdict {
        let target: Target? = state.withLock { state in
            guard state.reader.hasBegunAnew else { return state.target }
            state.failure = Failure(
                .networkReset,
                "The server started its answer again. A later try may succeed.",
                isTransient: true
            )
            return nil
        }
        switch target {
        case nil: return .abort
        case .writer(let writer, nil): return valve.pass(body) { store($0, writer) }
        case .writer(let writer, let decoder?):
            return decoder.decode(body) { piece in valve.pass(piece) { store($0, writer) } }
        case .nowhere(let remaining): return drop(body, remaining)
        case .undecided: return keep(body) ?? ask()
        }
    }

    func bodyPauses() { _ = ask() }

    /// Keeps what belongs to a small body; nil where it is none, or is not waited for any more.
    private func keep(_ body: UnsafeRawBufferPointer) -> BodyVerdict? {
        guard keepsSmallBody, state.withLock({ $0.mayKeep(body.count) }) else { return nil }
        let verdict = valve.pass(body) { bytes in
            state.withLock { state in
                state.reader.bodyBegan()
                state.kept.append(contentsOf: bytes)
            }
            return .kept
        }
        // A limit holds it back: it does not come at once.
        return verdict == .pause ? ask() : verdict
    }

    private func store(_ body: UnsafeRawBufferPointer, _ writer: SegmentWriter) -> BodyVerdict {
        switch writer.append(body) {
        case .done:
            inbox.count(body.count)
            return .taken
        case .waits:
            return .pause
        case .full:
            state.withLock { $0.isFull = true }
            return .abort
        case .failed:
            return .abort
        }
    }

    private func drop(_ body: UnsafeRawBufferPointer, _ remaining: Int) -> BodyVerdict {
        let rest = remaining - body.count
        guard rest >= 0 else { return .abort }
        state.withLock { state in
            state.reader.bodyBegan()
            state.target = .nowhere(remaining: rest)
        }
        return .taken
    }

    private func ask() -> BodyVerdict {
        let isFirst = state.withLock { state in
            state.reader.bodyBegan()
            guard !state.hasAsked else { return false }
            state.hasAsked = true
            return true
        }
        if isFirst { send(.headIsComplete) }
        return .pause
    }
}

extension ResponseSink.State {
    /// How long the body is by its head; the longest there is where that is unknown.
    fileprivate var announcedLength: Int64 { reader.head?.facts.contentLength.bytes ?? .max }

    fileprivate var isDrainable: Bool { announcedLength <= ResponseSink.longestDrained }

    /// Whether the next bytes are of a small, plain body that may come as a whole.
    fileprivate func mayKeep(_ count: Int) -> Bool {
        guard !hasAsked, let facts = reader.head?.facts, facts.status == 200,
            facts.contentEncoding == nil, let length = facts.contentLength.bytes
        else { return false }
        return length <= ResponseSink.longestKept && Int64(kept.count + count) <= length
    }
}
