// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// One request of a transfer while it runs: what it asked for, and where the answer goes.
///
/// Belongs to its transfer's actor.
final class Connection {
    /// Why it was made.
    enum Role {
        /// It is the probe: the others join it.
        case lead
        /// It fetches what nobody else does.
        case gap
        /// It takes over the end of another's piece, once its head is judged.
        case split(of: TransferInbox.ConnectionNumber)
        /// It fetches the same as another; whoever is first ends both.
        case race(with: TransferInbox.ConnectionNumber)

        /// As the history has it.
        var name: String {
            switch self {
            case .lead: "lead"
            case .gap: "gap"
            case .split: "split"
            case .race: "race"
            }
        }
    }

    let number: TransferInbox.ConnectionNumber
    let role: Role
    let ask: Ask
    let hop: Hop
    /// How many redirects led here.
    let redirects: Int
    /// Whether the chain of redirects began at the task's own URL.
    let isFromHome: Bool
    /// Which of the transfer's sources the chain began at.
    let source: Int
    let startedAt: Duration
    let sink: ResponseSink
    let handle: TransferHandle
    /// The head of its answer, as it was judged.
    var answer: Fetch.Answer
    /// What its head turned out to be; nil before it is complete.
    var judgement: Judgement?
    /// Where its body goes; nil before the head is judged, and where nothing is to be stored.
    private(set) var writer: SegmentWriter?
    /// The one that stores nothing more.
    private var formerWriter: SegmentWriter?
    /// What the writer's comparison is to show, until it has.
    var proof: Proof?
    /// How fast its bytes come.
    private(set) var meter: RateMeter?
    private(set) var joinedAt: Duration?
    /// Its body is dropped, and not waited for after this moment; nil where it is not waited for.
    private(set) var drainsUntil: Duration?
    /// It was ended on purpose: how it ends says nothing.
    private(set) var isCut = false
    /// The host has said that it gives no further connection.
    private(set) var isTurnedAway = false

    init(
        _ number: TransferInbox.ConnectionNumber,
        _ route: Route,
        startedAt: Duration,
        sink: ResponseSink,
        handle: TransferHandle
    ) {
        self.number = number
        self.role = route.role
        self.ask = route.ask
        self.hop = route.hop
        self.redirects = route.redirects
        self.isFromHome = route.isFromHome
        self.source = route.source
        answer = Fetch.Answer(
            ResponseFacts(status: 0),
            to: route.ask,
            from: route.source,
            at: Origin(route.hop.url),
            isLead: false
        )
        self.startedAt = startedAt
        self.sink = sink
        self.handle = handle
    }

    /// What a connection asks for, where, and why.
    struct Route {
        var ask: Ask
        var hop: Hop
        var role: Role
        var source: Int
        var redirects = 0
        var isFromHome = false

        var isLead: Bool { if case .lead = role { true } else { false } }
    }

    /// The same again, to be changed.
    var route: Route {
        Route(
            ask: ask,
            hop: hop,
            role: role,
            source: source,
            redirects: redirects,
            isFromHome: isFromHome
        )
    }

    /// From now on its bytes are stored.
    func store(in writer: SegmentWriter, at now: Duration) {
        self.writer = writer
        writer.listen(sink.listener(resuming: handle))
        joinedAt = now
        meter = RateMeter(count: writer.start, at: now)
    }

    /// Whether it is the first one of its request.
    var isLead: Bool { route.isLead }

    /// Whether it brings bytes of the file that are taken as they come.
    var bringsFile: Bool {
        switch judgement {
        case .begin, .resume: true
        case .prove: proof == nil
        case .compare, .check, .complete, .askAgain, .redirect, .fail, nil: false
        }
    }

    /// Whether its answer is held against what is on disk.
    var isComparing: Bool {
        switch judgement {
        case .compare, .prove: true
        case .begin, .resume, .check, .complete, .askAgain, .redirect, .fail, nil: false
        }
    }

    /// Whether it has brought anything.
    var isServed: Bool { writer.map { $0.position > $0.start } ?? false }

    /// Whether all has come that there was to come: how it ended after that says nothing.
    var isSated: Bool { writer.map { $0.end != .max && $0.rest == nil } ?? false }

    /// Nothing more is stored.
    func dropWriter() {
        writer?.giveUp()
        formerWriter = writer ?? formerWriter
        writer = nil
    }

    /// Returns once nothing of what came is being written any more that is not to be stored.
    func quiet() async { await formerWriter?.quiet() }

    /// The host refuses it.
    func turnAway() { isTurnedAway = true }

    /// A body that is dropped is waited for at least so long, however soon its head came.
    private static let shortestDrain: Duration = .milliseconds(250)
    /// And never longer than this: what is to be done is known already.
    private static let longestDrain: Duration = .seconds(2)

    /// A short body is read to its end, so that the connection can be used again, if it comes as
    /// soon as another connection would.
    func dropBody(at now: Duration) {
        guard sink.isDrainable else { return handle.cancel() }
        if sink.drain() { handle.resume() }
        guard !sink.isDrained else { return }
        let time = (now - startedAt) * 2
        drainsUntil = now + min(max(time, Self.shortestDrain), Self.longestDrain)
    }

    /// The rest of its body is not waited for.
    func endDrain() {
        drainsUntil = nil
        handle.cancel()
    }

    /// Ends it; what it has brought stays.
    func cut() {
        isCut = true
        handle.cancel()
    }

    /// What it works at, as the plan sees it; nil where it works at nothing.
    func piece(at now: Duration) -> SegmentPlan.Piece? {
        guard !isCut else { return nil }
        var rival: Int?
        if case .race(let number) = role { rival = number }
        guard let writer, let joinedAt else {
            guard case .part(let range, _) = ask, judgement == nil else { return nil }
            return SegmentPlan.Piece(
                id: number,
                position: range.first,
                end: range.end,
                isJudged: false,
                age: now - startedAt,
                rival: rival
            )
        }
        meter?.read(writer.position, at: now)
        return SegmentPlan.Piece(
            id: number,
            position: writer.position,
            end: writer.end,
            age: now - joinedAt,
            bytesPerSecond: meter?.perSecond,
            rival: rival
        )
    }
}
