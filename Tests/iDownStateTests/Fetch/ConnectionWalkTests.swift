// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@testable import iDownState

/// Whole downloads in a made-up world of hosts that refuse, break, redirect and say nothing, driven
/// by what ``Fetch`` decides of connections.
@Suite(.timeLimit(.minutes(5))) struct ConnectionWalkTests {
    @Test func `equal connections end together`() {
        var world = ConnectionWorld(seed: 1)
        let end = world.run()
        // 64 MiB at 16 MiB a second, and two heads.
        #expect(end.fault == nil)
        #expect(end.seconds <= 4.3, "\(end.seconds) s")
        #expect(end.requests <= 16, "\(end.requests) requests")
        #expect(end.doubled < 4 << 20, "\(end.doubled) bytes twice")
    }

    @Test func `one slow connection of four costs little`() {
        var world = ConnectionWorld(seed: 2)
        world.total = 8 << 20
        world.rates = [1 << 20, 1 << 20, 20_000, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20]
        world.wanted = 4
        let end = world.run()
        #expect(end.fault == nil)
        #expect(end.seconds <= 3, "\(end.seconds) s")
    }

    @Test func `a host that refuses all that is added costs nothing`() {
        var world = ConnectionWorld(seed: 3)
        world.allowed = 1
        let end = world.run()
        #expect(end.fault == nil)
        #expect(end.seconds <= 32.3, "\(end.seconds) s")
        #expect(end.doubled == 0)
    }

    @Test func `a link that works once is asked for at the task's own URL by the next`() {
        var world = ConnectionWorld(seed: 4)
        world.isSigned = true
        let end = world.run()
        #expect(end.fault == nil)
        #expect(end.seconds <= 5, "\(end.seconds) s")
    }

    @Test func `whatever the world does, every byte comes, and no more are asked than may be`() {
        for seed in 1...5000 as ClosedRange<UInt64> {
            var world = ConnectionWorld.any(seed: seed)
            guard let fault = world.run().fault else { continue }
            Issue.record("seed \(seed): \(fault)")
            return
        }
    }

    /// What no rule catches would pass here as well.
    @Test(arguments: ConnectionWorld.Bug.allCases)
    func `a planted wrong decision is found`(bug: ConnectionWorld.Bug) {
        let isFound = (1...500 as ClosedRange<UInt64>).contains { seed in
            var world = ConnectionWorld.any(seed: seed)
            world.bug = bug
            return world.run().fault?.contains(bug.fault) == true
        }
        #expect(isFound)
    }
}

/// One file, at one to three hosts that give each connection a rate of its own.
struct ConnectionWorld {
    /// A wrong decision that the walk has to find.
    enum Bug: CaseIterable, Sendable {
        /// Parts are asked for from one block earlier on.
        case asksForMore
        /// One that is to end goes on.
        case cutsNobody
        /// Hosts are asked for as many as anybody likes.
        case forgetsLimits
        /// One that is over counts as open.
        case forgetsEnds

        /// What the rule says that it breaks.
        var fault: String {
            switch self {
            case .asksForMore: "is worked at"
            case .cutsNobody: "are open"
            case .forgetsLimits: "is asked for more"
            case .forgetsEnds: "somebody is lost"
            }
        }
    }

    /// How a walk has ended: after how long, with how many requests, and how many bytes that were
    /// there already.
    struct End {
        var fault: String?
        var seconds = 0.0
        var requests = 0
        var doubled: Int64 = 0
    }

    private struct Worker {
        let route: Requests.Route
        let rate: Int64
        let start: Int64
        var position: Int64
        var end: Int64
        var ticks = 0
        var isJudged = false
        /// Nobody answers it.
        var isMute = false
        /// It was made where the task's own URL leads, and not to a link that works once.
        let isFresh: Bool
    }

    private static let tick: Duration = .milliseconds(50)

    var total: Int64 = 64 << 20
    var rates: [Int64] = [2 << 20]
    /// Heads come after so many ticks.
    var headTicks = 2
    /// Of a hundred connections so many break while bytes come, and so many are never answered.
    var breaks = 0
    var mutes = 0
    /// Of a hundred parts so many are redirected, and so many answered as a whole.
    var redirects = 0
    var wholes = 0
    var wanted = 8
    /// Whether somebody wants so many, and not the trial.
    var isChosen = true
    var sources = 1
    /// So many connections each host serves; it refuses all others.
    var allowed = 16
    /// The first connection was redirected to a link that works once.
    var isSigned = false
    var bug: Bug?

    private var random: SeededGenerator
    private var fetch: Fetch
    private var workers: [Int: Worker] = [:]
    private var now: Duration = .zero
    private var received: Int64 = 0
    private var end = End()
    private var isFair = false
    /// What each host is known to serve.
    private var limits: [Int: Int] = [:]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        fetch = Fetch(
            TaskRequest(url: "https://0.example/f", directory: "/"),
            home: "",
            mirrors: []
        )
    }

    /// Anything that may be.
    static func any(seed: UInt64) -> ConnectionWorld {
        var world = ConnectionWorld(seed: seed)
        var random = SeededGenerator(seed: seed &* 77 &+ 5)
        world.total = Int64.random(in: 1...(8 << 20), using: &random)
        world.wanted = Int.random(in: 1...12, using: &random)
        world.isChosen = Bool.random(using: &random)
        world.sources = Int.random(in: 1...3, using: &random)
        world.headTicks = Int.random(in: 1...8, using: &random)
        world.allowed = [1, 2, 4, 16].randomElement(using: &random) ?? 16
        world.breaks = [0, 0, 1, 5].randomElement(using: &random) ?? 0
        world.mutes = [0, 0, 5, 50].randomElement(using: &random) ?? 0
        world.redirects = [0, 0, 10].randomElement(using: &random) ?? 0
        world.wholes = [0, 0, 0, 10].randomElement(using: &random) ?? 0
        world.isSigned = Int.random(in: 0..<4, using: &random) == 0
        world.rates = (0..<12).map { _ in Int64.random(in: 500_000...(8 << 20), using: &random) }
        if seed % 3 == 0 { world.rates[3] = 0 }
        if seed % 5 == 0 { world.rates[7] = 1000 }
        return world
    }

    private mutating func chance(of hundred: Int) -> Bool {
        hundred > 0 && !isFair && Int.random(in: 0..<100, using: &random) < hundred
    }

    /// Downloads the file.
    mutating func run() -> End {
        var request = TaskRequest(url: "https://0.example/f", directory: "/tmp")
        request.checksum = Checksum(.sha256, [UInt8](repeating: 7, count: 32))
        fetch = Fetch(
            request,
            home: request.url,
            mirrors: (1..<max(sources, 1)).map { "https://\($0).example/f" }
        )
        fetch.begin()
        for tick in 0..<8_000 {
            now = Self.tick * tick
            isFair = tick > 2_000
            for id in workers.keys.sorted() { work(id) }
            if taken.covers(total) {
                end.seconds = Double(tick) / 20
                end.doubled = received - total
                return end
            }
            if workers.isEmpty { beginRequest() }
            if fetch.requests.joining != nil { carryOut(fetch.plan(look)) }
            if let fault = brokenRule() { return End(fault: fault) }
        }
        return End(fault: "not there after \(now)")
    }

    // MARK: First connections

    private mutating func beginRequest() {
        let ask = fetch.content.stored.isEmpty ? Ask.whole : fetch.firstAsk
        let (id, route) = fetch.requests.begin(ask, of: 0, at: now)
        make(id, route, isFresh: !isSigned)
    }

    private mutating func answerLead(_ id: Int, _ route: Requests.Route) {
        let facts =
            route.ask.isPartial
            ? Self.part(ByteRange(from: route.ask.offset, to: route.ask.end ?? total), of: total)
            : Self.whole(total)
        let host = Origin(scheme: "https", host: "0.example", port: 443)
        let answer = Fetch.Answer(facts, on: route, at: host)
        let judgement = fetch.judge(answer, over: id)
        guard let body = fetch.open(id) else {
            end.fault = end.fault ?? "a first answer to \(route.ask) is \(judgement.name)"
            return
        }
        store(id, from: body.start)
        _ = fetch.allowJoining(id, at: now)
    }

    // MARK: What connections do

    private mutating func make(_ id: Int, _ route: Requests.Route, isFresh: Bool) {
        end.requests += 1
        let (start, last) = (route.ask.offset, route.ask.end ?? total)
        workers[id] = Worker(
            route: route,
            rate: rates[id % rates.count],
            start: start,
            position: start,
            end: last,
            isMute: route.role != .lead && chance(of: mutes),
            isFresh: isFresh
        )
    }

    private mutating func work(_ id: Int) {
        guard var worker = workers[id] else { return }
        worker.ticks += 1
        workers[id] = worker
        let rate = isFair ? max(worker.rate, 1 << 20) : worker.rate
        let isMute = worker.isMute && !isFair
        // Silence for a minute ends a connection.
        let isSilent = (isMute || rate == 0) && worker.ticks >= 1200
        guard worker.isJudged else {
            if isSilent { return close(id) }
            if worker.ticks >= headTicks, !isMute { answer(id) }
            return
        }
        let step = min(max(0, worker.end - worker.position), rate / 20)
        received += step
        worker.position += step
        workers[id] = worker
        if worker.position >= worker.end || isSilent || chance(of: breaks) { close(id) }
    }

    private mutating func answer(_ id: Int) {
        guard let worker = workers[id] else { return }
        guard worker.route.role != .lead else { return answerLead(id, worker.route) }
        let source = worker.route.source
        let served = workers.values.count { $0.isJudged && $0.route.source == source }
        if served >= allowed {
            limits[source] = max(1, served)
            return turnAway(id, .fail(.status(403)), status: 403)
        }
        if source == 0, !worker.isFresh { return turnAway(id, .fail(.status(410)), status: 410) }
        if chance(of: redirects) { return turnAway(id, .redirect(to: "/there"), status: 302) }
        if chance(of: wholes) {
            return turnAway(id, .begin(RemoteVersion(total: total)), status: 200)
        }
        guard case .part(let range, _) = worker.route.ask else { return }
        judged(id, .resume(fetch.content.known))
        fetch.headFits(id, at: now)
        if case .split(let victim) = worker.route.role, let segment = workers[victim] {
            guard segment.position < range.end else { return cut(id) }
            workers[victim]?.end = min(segment.end, range.first)
            if segment.position >= range.first { cut(victim) }
        }
        fetch.content.join(from: worker.route.source)
        store(id, from: range.first)
    }

    private mutating func judged(_ id: Int, _ judgement: Judgement, status: Int = 206) {
        guard let route = fetch.requests[id]?.route else { return }
        var facts = Self.part(nil, of: total)
        facts.status = status
        let name = workers[id]?.isFresh == false ? "signed" : "\(route.source)"
        let host = Origin(scheme: "https", host: "\(name).example", port: 443)
        let answer = Fetch.Answer(facts, on: route, at: host)
        fetch.requests.judged(id, judgement, answer)
    }

    private mutating func store(_ id: Int, from start: Int64) {
        workers[id]?.isJudged = true
        workers[id]?.ticks = 0
        fetch.requests.brings(id, from: start, at: now)
    }

    private mutating func turnAway(_ id: Int, _ judgement: Judgement, status: Int) {
        judged(id, judgement, status: status)
        let steps = fetch.turnAway(id, at: now)
        workers[id] = nil
        fetch.requests.closed(id)
        carryOut(steps)
    }

    private mutating func cut(_ id: Int) {
        fetch.requests.cut(id)
        close(id)
    }

    /// A connection is over.
    private mutating func close(_ id: Int) {
        guard let worker = workers.removeValue(forKey: id) else { return }
        let brought = worker.position - worker.start
        if worker.isJudged { fetch.stored(id, upTo: worker.position) }
        var steps: [Requests.Step] = []
        if worker.route.role != .lead {
            let isAll = worker.position >= worker.end
            steps = fetch.ended(
                id,
                worker.isJudged
                    ? .brought(brought, isAll: isAll) : .empty(isRefusal: chance(of: 50)),
                at: now
            )
        }
        if bug != .forgetsEnds { fetch.requests.closed(id) }
        carryOut(steps)
    }

    private mutating func carryOut(_ steps: [Requests.Step]) {
        for step in steps {
            switch step {
            case .connect(let id, var route, let way):
                if bug == .asksForMore, case .part(let range, _) = route.ask,
                    let more = ByteRange(from: max(0, range.first - 16), to: range.end)
                {
                    route = Requests.Route(
                        .part(more, ifRange: nil),
                        as: route.role,
                        from: route.source
                    )
                }
                if end.fault == nil { end.fault = flaw(of: route, way) }
                make(id, route, isFresh: way == .home || !isSigned)
            case .extend(let id, let end): workers[id]?.end = end
            case .cut(let id):
                if bug != .cutsNobody { close(id) }
            case .refused, .learned: break
            }
        }
    }

    // MARK: What can be seen

    private var taken: SegmentMap {
        var map = fetch.content.stored
        for worker in workers.values where worker.isJudged {
            if let range = ByteRange(from: worker.start, to: worker.position) { map.insert(range) }
        }
        return map
    }

    private var chosen: Int? { isChosen ? wanted : nil }

    private var look: Joining.Look {
        let judged = workers.filter(\.value.isJudged)
        return Joining.Look(
            now: now,
            taken: taken,
            progress: judged.mapValues {
                Joining.Look.Progress(position: $0.position, end: $0.end)
            },
            chosen: chosen,
            ceiling: wanted,
            places: fetch.partSources.map { source in
                let open = workers.values.count { $0.route.source == source }
                return Joining.Look.Place(
                    source: source,
                    host: Origin(scheme: "https", host: "\(source).example", port: 443),
                    room: bug == .forgetsLimits ? 99 : max(0, (limits[source] ?? 16) - open)
                )
            }
        )
    }

    // MARK: Rules

    /// What is wrong with a new connection; nil where nothing is.
    private func flaw(of route: Requests.Route, _ way: Requests.Way) -> String? {
        // Where one is asked for once more, the others may have gone on since.
        guard case .part(let range, _) = route.ask, way == .toSource else { return nil }
        let open = workers.values.count { $0.route.source == route.source }
        if open >= limits[route.source] ?? 16 {
            return "host \(route.source) is asked for more than the \(open) that it serves"
        }
        if range.end > total { return "\(range) lies behind the end" }
        let others = workers.values.filter { $0.position < $0.end }
        switch route.role {
        case .lead: return nil
        case .gap:
            let isFree = others.allSatisfy { $0.end <= range.first || $0.position >= range.end }
            return isFree ? nil : "\(range) is worked at"
        case .split(let victim), .race(let victim):
            guard let segment = workers[victim] else { return nil }
            let isWithin = segment.position <= range.first && range.end <= segment.end
            return isWithin ? nil : "\(range) is no part of what \(victim) does"
        }
    }

    private func brokenRule() -> String? {
        if let fault = end.fault { return fault }
        if Set(fetch.requests.open.map(\.id)) != Set(workers.keys) { return "somebody is lost" }
        if workers.count > max(wanted, 1) + 1 { return "\(workers.count) of \(wanted) are open" }
        for source in 1..<max(sources, 1) {
            let mute = workers.values.count { $0.route.source == source && !$0.isJudged }
            if mute > 1 { return "a mirror that says nothing is asked \(mute) times" }
        }
        return nil
    }

    private static let tag = EntityTag(opaque: "\"a\"", isWeak: false)

    private static func whole(_ total: Int64) -> ResponseFacts {
        ResponseFacts(
            status: 200,
            contentLength: .bytes(total),
            entityTag: tag,
            acceptsRanges: true,
            mimeType: "application/zip"
        )
    }

    private static func part(_ range: ByteRange?, of total: Int64) -> ResponseFacts {
        ResponseFacts(
            status: 206,
            contentRange: range.map { .satisfied($0, total: total) },
            entityTag: tag,
            mimeType: "application/zip"
        )
    }
}
