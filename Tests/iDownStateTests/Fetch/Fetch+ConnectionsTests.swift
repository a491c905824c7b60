// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

/// One connection brings a file of 64 MiB, a second one is to join.
@Suite struct FetchConnectionsTests {
    private static let total: Int64 = 64 << 20
    private static let tag = EntityTag(opaque: "\"a\"", isWeak: false)
    private static let known = RemoteVersion(total: total, entityTag: tag, servesRanges: true)
    private static let host = Origin(scheme: "https", host: "0.example", port: 443)

    /// An attempt whose first connection, 1, brings bytes since 0 s, and whose second one, 2, was
    /// asked for at 1 s.
    private static func fetch(of source: Int = 0, chosen: Int = 2) -> Fetch {
        var request = TaskRequest(url: "https://0.example/f", directory: "/")
        request.checksum = Checksum(.sha256, [UInt8](repeating: 7, count: 32))
        var fetch = Fetch(
            request,
            home: request.url,
            mirrors: ["https://1.example/f"],
            known: known
        )
        let (lead, _) = fetch.requests.begin(.whole, of: 0, at: .zero)
        Self.judge(&fetch, lead, .begin(known))
        fetch.requests.brings(lead, from: 0, at: .zero)
        let joins = fetch.allowJoining(lead, at: .zero)
        #expect(joins)
        let steps = fetch.plan(look(wanted: chosen, room: [source: 1]))
        let sources = steps.compactMap { step in
            if case .connect(_, let route, _) = step { route.source } else { nil }
        }
        #expect(sources == [source])
        return fetch
    }

    /// The head of a connection turned out to be this.
    private static func judge(
        _ fetch: inout Fetch,
        _ id: Int,
        _ judgement: Judgement,
        status: Int = 0,
        isHome: Bool = true
    ) {
        let facts = ResponseFacts(status: status)
        let route = Requests.Route(.whole, as: id == 1 ? .lead : .gap, from: 0)
        let other = Origin(scheme: "https", host: "other.example", port: 443)
        let answer = Fetch.Answer(facts, on: route, at: isHome ? host : other)
        fetch.requests.judged(id, judgement, answer)
    }

    /// What can be seen at a time, with a MiB a second from the first connection.
    private static func look(
        at seconds: Int = 1,
        wanted: Int = 2,
        room: [Int: Int] = [:],
        progress: [Int: Joining.Look.Progress]? = nil
    ) -> Joining.Look {
        let position = Int64(seconds) << 20
        return Joining.Look(
            now: .seconds(seconds),
            taken: SegmentMap(ByteRange(from: 0, to: position).map { [$0] } ?? []),
            progress: progress ?? [1: .init(position: position, end: total)],
            chosen: wanted,
            ceiling: wanted,
            places: [0, 1].map { source in
                Joining.Look.Place(
                    source: source,
                    host: Origin(scheme: "https", host: "\(source).example", port: 443),
                    room: room[source] ?? 0
                )
            }
        )
    }

    // MARK: Heads that do not fit

    /// A head, and what comes of it.
    struct Head: Sendable, CustomTestStringConvertible {
        let judgement: Judgement
        var status = 0
        var source = 0
        var isHome = true
        /// What is to be done, in words.
        let steps: [String]
        /// Whether others may join from the first source half a second later.
        var mayGoOn = false
        var sources = [0, 1]

        var testDescription: String { "\(judgement.name) \(status) of \(source), home: \(isHome)" }
    }

    static let heads: [Head] = [
        Head(
            judgement: .redirect(to: "/b"),
            status: 302,
            steps: ["connect split from 0, redirected"],
            mayGoOn: true
        ),
        Head(
            judgement: .redirect(to: "/b"),
            status: 302,
            source: 1,
            steps: ["connect split from 1, redirected"],
            mayGoOn: true
        ),
        Head(judgement: .begin(known), status: 200, steps: []),
        Head(judgement: .complete(known), status: 416, steps: []),
        Head(judgement: .askAgain(.whole, known), status: 206, steps: []),
        Head(
            judgement: .begin(known),
            status: 200,
            source: 1,
            steps: [],
            mayGoOn: true,
            sources: [0]
        ),
        Head(
            judgement: .fail(.status(403)),
            status: 403,
            steps: ["refused"],
            mayGoOn: true
        ),
        Head(
            judgement: .fail(.status(503)),
            status: 503,
            source: 1,
            steps: ["refused"],
            mayGoOn: true,
            sources: [0]
        ),
        Head(
            judgement: .fail(.status(403)),
            status: 403,
            isHome: false,
            steps: ["connect split from 0, home"],
            mayGoOn: true
        ),
        Head(
            judgement: .fail(.status(410)),
            status: 410,
            isHome: false,
            steps: ["connect split from 0, home"],
            mayGoOn: true
        ),
        Head(judgement: .fail(.status(404)), status: 404, steps: [], mayGoOn: true),
        Head(
            judgement: .fail(.status(500)),
            status: 500,
            isHome: false,
            steps: [],
            mayGoOn: true
        ),
        Head(
            judgement: .fail(.status(404)),
            status: 404,
            source: 1,
            steps: [],
            mayGoOn: true,
            sources: [0]
        ),
    ]

    private static func word(_ step: Requests.Step) -> String {
        switch step {
        case .connect(_, let route, let way):
            let place =
                switch way {
                case .toSource: ""
                case .samePlace: ", same place"
                case .redirected: ", redirected"
                case .home: ", home"
                }
            return "connect \(route.role.name) from \(route.source)\(place)"
        case .extend(let id, let end): return "extend \(id) to \(end)"
        case .cut(let id): return "cut \(id)"
        case .refused(let wasClosed, _): return wasClosed ? "closed" : "refused"
        case .learned(let useful, _): return "learned \(useful.count)"
        }
    }

    @Test(arguments: heads) func `a head that does not fit has its steps and sources`(head: Head) {
        var fetch = Self.fetch(of: head.source)
        Self.judge(&fetch, 2, head.judgement, status: head.status, isHome: head.isHome)
        let steps = fetch.turnAway(2, at: .seconds(1))
        fetch.requests.closed(2)
        #expect(steps.map(Self.word) == head.steps)
        #expect(fetch.partSources == head.sources)
        #expect(fetch.requests.joining?.isClosed == !head.mayGoOn)
    }

    @Test func `a range that is refused on its condition is asked for without`() throws {
        var fetch = Self.fetch()
        let route = try #require(fetch.requests[2]?.route)
        #expect(route.ask.ifRange == "\"a\"")
        Self.judge(&fetch, 2, .askAgain(route.ask.unconditional, Self.known))
        let steps = fetch.turnAway(2, at: .seconds(1))
        guard case .connect(3, let again, .samePlace) = try #require(steps.first) else {
            Issue.record("\(steps)")
            return
        }
        #expect(again.ask == route.ask.unconditional)
        #expect(fetch.content.known.dislikesIfRange)
    }

    @Test func `a chain of redirects ends`() throws {
        var fetch = Self.fetch()
        var last = 2
        for _ in 0..<Requests.mostRedirects {
            Self.judge(&fetch, last, .redirect(to: "/b"))
            let steps = fetch.turnAway(last, at: .seconds(1))
            fetch.requests.closed(last)
            guard case .connect(let next, _, _) = try #require(steps.first) else { return }
            last = next
        }
        Self.judge(&fetch, last, .redirect(to: "/b"))
        let steps = fetch.turnAway(last, at: .seconds(1))
        #expect(steps == [])
    }

    @Test func `the task's own URL is asked once where a link has expired`() {
        var fetch = Self.fetch()
        Self.judge(&fetch, 2, .fail(.status(410)), status: 410, isHome: false)
        _ = fetch.turnAway(2, at: .seconds(1))
        Self.judge(&fetch, 3, .fail(.status(410)), status: 410, isHome: false)
        let second = fetch.turnAway(3, at: .seconds(1))
        #expect(second == [])
        #expect(fetch.requests.joining?.hasFailedAtHome == true)
    }

    // MARK: Ends

    struct End: Sendable, CustomTestStringConvertible {
        let what: String
        let end: Fetch.JoinedEnd
        var source = 0
        var isCut = false
        let steps: [String]
        /// Whether another one joins at once.
        let joins: Bool
        var sources = [0, 1]

        var testDescription: String { what }
    }

    static let ends: [End] = [
        End(what: "all has come", end: .brought(9, isAll: true), steps: [], joins: true),
        End(
            what: "it broke, and nobody joins for half a second",
            end: .brought(9, isAll: false),
            steps: [],
            joins: false
        ),
        End(
            what: "it was cut, which says nothing",
            end: .brought(9, isAll: false),
            isCut: true,
            steps: [],
            joins: true
        ),
        End(
            what: "a mirror broke, and brings nothing further",
            end: .brought(9, isAll: false),
            source: 1,
            steps: [],
            joins: true,
            sources: [0]
        ),
        End(
            what: "no head has come",
            end: .empty(isRefusal: false),
            steps: [],
            joins: false
        ),
        End(
            what: "the host has closed it",
            end: .empty(isRefusal: true),
            steps: ["closed"],
            joins: false
        ),
        End(
            what: "a mirror's host has closed it",
            end: .empty(isRefusal: true),
            source: 1,
            steps: ["closed"],
            joins: true,
            sources: [0]
        ),
        End(
            what: "a mirror was cut that had not answered",
            end: .empty(isRefusal: true),
            source: 1,
            isCut: true,
            steps: [],
            joins: true,
            sources: [0]
        ),
    ]

    @Test(arguments: ends) func `the end of a joining connection has its steps`(end: End) {
        var fetch = Self.fetch(of: end.source)
        if case .brought = end.end {
            Self.judge(&fetch, 2, .resume(Self.known))
            fetch.requests.brings(2, from: 32 << 20, at: .seconds(1))
        }
        if end.isCut { fetch.requests.cut(2) }
        let steps = fetch.ended(2, end.end, at: .milliseconds(900))
        fetch.requests.closed(2)
        #expect(steps.map(Self.word) == end.steps)
        #expect(fetch.partSources == end.sources)
        let next = fetch.plan(Self.look(room: [0: 1]))
        #expect(next.count == (end.joins ? 1 : 0), "\(next)")
    }

    // MARK: The plan

    @Test func `the source that is the least busy is asked`() {
        let fetch = Self.fetch(of: 1)
        #expect(fetch.requests[2]?.route.source == 1)
    }

    @Test func `those that are never answered are given up once they are all that is left`() {
        var fetch = Self.fetch()
        fetch.requests.closed(1)
        #expect(fetch.plan(Self.look(at: 2, progress: [:])) == [])
        #expect(fetch.plan(Self.look(at: 4, progress: [:])) == [.cut(2)])
        #expect(fetch.requests.mostServed == 1)
    }

    @Test func `one connection brings all of a file of which nodes have several versions`() {
        var fetch = Self.fetch()
        func joins(_ tag: String) -> Bool {
            let tag = EntityTag(opaque: tag, isWeak: false)
            let version = RemoteVersion(total: Self.total, entityTag: tag, servesRanges: true)
            let (lead, _) = fetch.requests.begin(.whole, of: 0, at: .zero)
            Self.judge(&fetch, lead, .begin(version))
            _ = fetch.open(lead)
            fetch.requests.brings(lead, from: 0, at: .zero)
            fetch.stored(lead, upTo: 1 << 20)
            return fetch.allowJoining(lead, at: .zero)
        }
        #expect(joins("\"a\""))
        // The file was replaced, which happens.
        #expect(joins("\"b\""))
        #expect(joins("\"b\""))
        // The version before is back.
        #expect(!joins("\"a\""))
        #expect(!joins("\"b\""))
    }

    @Test func `nobody is let in while a connection alone is of no use`() {
        var fetch = Self.fetch()
        func joins() -> Bool {
            fetch.allowJoining(1, at: .zero)
        }
        #expect(joins())
        // A comparison is no place to go on from.
        Self.judge(&fetch, 1, .compare(Self.known))
        #expect(!joins())
        Self.judge(&fetch, 1, .begin(Self.known))
        #expect(joins())
        fetch.content.know(Self.known.withoutRanges)
        #expect(!joins())
    }

    @Test func `a silent mirror counts as no room, and a stalled segment is given away`() {
        var fetch = Self.fetch(of: 1, chosen: 4)
        #expect(fetch.plan(Self.look(wanted: 4, room: [0: 1])).count == 1)
        Self.judge(&fetch, 3, .resume(Self.known))
        fetch.requests.brings(3, from: 32 << 20, at: .seconds(1))
        var steps: [Requests.Step] = []
        for tenth in 11..<60 {
            let position = 32 << 20 + Int64(tenth) * 100_000
            var look = Self.look(
                wanted: 4,
                room: [1: 5],
                progress: [
                    1: .init(position: 1 << 20, end: 32 << 20),
                    3: .init(position: position, end: 64 << 20),
                ]
            )
            look.now = .milliseconds(tenth * 100)
            steps += fetch.plan(look)
        }
        #expect(steps.first.map(Self.word) == "cut 1")
    }

    @Test(arguments: [(0, ["connect race from 0"]), (1, [])])
    func `a slow mirror is raced by another source alone`(withRoom: Int, words: [String]) {
        var fetch = Self.fetch(of: 1, chosen: 3)
        Self.judge(&fetch, 2, .resume(Self.known))
        fetch.requests.brings(2, from: 32 << 20, at: .seconds(1))
        var steps: [Requests.Step] = []
        for tenth in 11..<60 where steps.isEmpty {
            let position = Int64(tenth) * 100_000
            var look = Self.look(
                wanted: 2,
                room: [withRoom: 5],
                progress: [
                    1: .init(position: position, end: 32 << 20),
                    2: .init(position: 32 << 20, end: 64 << 20),
                ]
            )
            look.now = .milliseconds(tenth * 100)
            look.ceiling = 3
            steps = fetch.plan(look)
        }
        #expect(steps.map(Self.word) == words)
        #expect(fetch.partSources == (words.isEmpty ? [0, 1] : [0]))
    }

    @Test func `the plan is looked at again while there is company, or hope of it`() {
        var fetch = Self.fetch()
        #expect(fetch.requests.needsPlanning)
        Self.judge(&fetch, 2, .begin(Self.known))
        _ = fetch.turnAway(2, at: .seconds(1))
        #expect(fetch.requests.needsPlanning)
        fetch.requests.closed(2)
        #expect(!fetch.requests.needsPlanning)
    }
}
