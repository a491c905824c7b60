// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
import iDownState

/// Receives one response on the transfer thread and tells the transfer what it needs to decide.
///
/// The body waits until the transfer has judged the head and called ``direct(to:)``: no byte is
/// stored before.
final class ResponseSink: TransferSink {
    enum Event: Sendable {
        /// The head is complete; body bytes wait until it is judged.
        case headIsComplete
        /// The received bytes were compared with those on disk; the rest of the body waits.
        case compared(SegmentWriter.Verdict)
        case ended(TransferOutcome)
    }

    /// The destination of the body.
    enum Target: Sendable {
        case undecided
        /// The bytes are stored, after the decoder has decoded them, if there is one.
        case writer(SegmentWriter, ContentDecoder?)
        /// Up to this many bytes are read and dropped, so that the connection can be used again.
        case nowhere(remaining: Int)
    }

    fileprivate struct State: Sendable {
        var reader: HeadReader
        var target = Target.undecided
        var failure: Failure?
        /// The segment's end was reached, but the server sends more.
        var isFull = false
        var hasAsked = false
        /// The bytes of a small body that have come before the head was judged.
        var kept: [UInt8] = []
    }

    /// The longest body, in bytes, that is read and dropped: a new connection costs less than a
    /// longer one.
    fileprivate static let longestDrained = 64 << 10

    /// The longest body, in bytes, that is kept in memory until it is complete, if it comes at
    /// once.
    static let longestKept: Int64 = 64 << 10

    private let number: TransferInbox.ConnectionNumber
    private let inbox: TransferInbox
    private let state: Mutex<State>
    private let valve: RateValve
    private let ownDisk: UInt64?
    private let refusalsOfPart: Set<Int>
    private let keepsSmallBody: Bool

    /// - Parameters:
    ///   - number: the connection's number.
    ///   - reader: knows the headers that came before.
    ///   - inbox: where events go.
    ///   - valve: holds the body to the limits.
    ///   - ownDisk: the file system for which the transfer thread may wait; nil for none.
    ///   - refusalsOfPart: the replies by which an FTP server refuses the range that is asked for;
    ///     empty where the whole file is.
    ///   - keepsSmallBody: whether a small body may be kept, to be made a file of in one go.
    init(
        number: TransferInbox.ConnectionNumber,
        reader: HeadReader,
        inbox: TransferInbox,
        valve: RateValve,
        ownDisk: UInt64? = nil,
        refusalsOfPart: Set<Int> = [],
        keepsSmallBody: Bool = false
    ) {
        self.refusalsOfPart = refusalsOfPart
        self.keepsSmallBody = keepsSmallBody
        self.number = number
        self.inbox = inbox
        self.valve = valve
        self.ownDisk = ownDisk
        state = Mutex(State(reader: reader))
    }

    /// The head, once it is complete.
    var head: ResponseHead? { state.withLock { $0.reader.head } }

    /// The bytes of all heads so far; the transfer limits their sum.
    var headerBytes: Int { state.withLock { $0.reader.headerBytes } }

    var failure: Failure? { state.withLock { $0.failure } }

    var isFull: Bool { state.withLock { $0.isFull } }

    /// The kept bytes, which are stored before those that follow.
    var kept: [UInt8] { state.withLock { $0.kept } }

    /// Whether the body is short enough to read it to its end, so that the connection can be used
    /// again.
    var isDrainable: Bool { state.withLock { $0.isDrainable } }

    /// Whether the head came by HTTP/2.
    var isByHTTP2: Bool { state.withLock { $0.reader.isByHTTP2 } }

    /// Whether only the end of the connection ends the body (RFC 9112 section 6.3).
    var endsWithConnection: Bool { !isByHTTP2 && isOpenEnded }

    /// Whether neither a length nor chunks tell where the body has to end.
    ///
    /// libcurl takes a stream of HTTP/2 for ended that was reset without an error.
    var isOpenEnded: Bool {
        guard let head, head.facts.contentLength == .unknown else { return false }
        return !head.fields.members("transfer-encoding").contains { $0.isWord("chunked") }
    }

    /// Reads and drops the body from now on; the caller resumes the transfer afterwards.
    func drain() { direct(to: .nowhere(remaining: Self.longestDrained)) }

    /// Sets the destination of the body; the caller resumes the transfer afterwards.
    func direct(to target: Target) { state.withLock { $0.target = target } }

    func send(_ event: Event) {
        var event = event
        if case .ended(let outcome) = event {
            valve.disconnect()
            if let facts = ResponseFacts(refusalOfPart: outcome, refusalsOfPart) {
                take(facts, isFinal: true)
            }
            event = .ended(decoded(outcome))
        }
        inbox.send(.connection(number, event))
    }

    /// Returns the outcome with errors that decoding the body has shown, which libcurl does not
    /// know.
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

    func receive(headerLine: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            do throws(Failure) {
                try state.reader.read(line: headerLine)
                // An answer without a file is judged at once, because its body may never come.
                if let head = state.reader.head, !state.hasAsked,
                    !(200..<300).contains(head.facts.status)
                {
                    state.hasAsked = true
                    send(.headIsComplete)
                }
                return true
            } catch {
                state.failure = error
                return false
            }
        }
    }

    func receive(remoteFile: RemoteFile) {
        let facts = ResponseFacts(remoteFile)
        take(facts, isFinal: !(200..<300).contains(facts.status))
    }

    /// Takes the head of an FTP or SFTP answer, which has no lines, unless there is one already.
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
            state.failure = .transient(.networkReset, "The server started its answer again.")
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

    /// Keeps bytes of a small body in memory; nil if the body is not small, or is not kept any
    /// more.
    private func keep(_ body: UnsafeRawBufferPointer) -> BodyVerdict? {
        guard keepsSmallBody, state.withLock({ $0.mayKeep(body.count) }) else { return nil }
        let verdict = valve.pass(body) { bytes in
            state.withLock { state in
                state.reader.bodyBegan()
                state.kept.append(contentsOf: bytes)
            }
            return .kept
        }
        // A rate limit holds the body back, so that it does not come at once.
        return verdict == .pause ? ask() : verdict
    }

    private func store(_ body: UnsafeRawBufferPointer, _ writer: SegmentWriter) -> BodyVerdict {
        switch writer.append(body, onThreadOf: ownDisk) {
        case .done:
            inbox.count(body.count)
            // libcurl would wait on although the announced length is there.
            guard writer.rest == nil, state.withLock(\.hasOtherCoding) else { return .taken }
            state.withLock { $0.isFull = true }
            return .abort
        case .waits: return .pause
        case .full:
            state.withLock { $0.isFull = true }
            return .abort
        case .failed: return .abort
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
    /// The announced length of the body; the largest number if it is unknown.
    fileprivate var announcedLength: Int64 { reader.head?.facts.contentLength.bytes ?? .max }

    /// Whether the body has a Transfer-Encoding that ends nothing, not even after the announced length
    /// (RFC 9112 section 6.3): older servers send `identity`.
    fileprivate var hasOtherCoding: Bool {
        let codings = reader.head?.fields.members("transfer-encoding") ?? []
        return !codings.isEmpty && !codings.contains { $0.isWord("chunked") }
    }

    fileprivate var isDrainable: Bool { announcedLength <= ResponseSink.longestDrained }

    /// Returns whether the next bytes belong to a small, plain body that is kept until it is
    /// complete.
    fileprivate func mayKeep(_ count: Int) -> Bool {
        guard !hasAsked, let facts = reader.head?.facts, facts.status == 200,
            facts.contentEncoding == nil, !hasOtherCoding, let length = facts.contentLength.bytes
        else { return false }
        return length <= ResponseSink.longestKept && Int64(kept.count + count) <= length
    }
}
