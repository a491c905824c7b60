// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

@Suite struct SourcesTests {
    private static let home = "https://home.example/file"
    private static let mirrors = ["https://one.example/file", "ftp://two.example/file"]

    /// What may pass, and what will not.
    private static let reset = Failure(.networkReset, "", isTransient: true)
    private static let gone = Failure(.serverNotFound, "")
    private static let wrong = Failure(.checksumMismatch, "")

    private static let empty = Sources.StoredBytes(
        isEmpty: true,
        owner: nil,
        hasMore: false,
        hasTakenOver: false
    )
    /// Bytes of several sources.
    private static let mixed = stored(of: nil)

    private static func stored(
        of owner: Int?,
        hasMore: Bool = true,
        hasTakenOver: Bool = false
    ) -> Sources.StoredBytes {
        Sources.StoredBytes(
            isEmpty: false,
            owner: owner,
            hasMore: hasMore,
            hasTakenOver: hasTakenOver
        )
    }

    private static func sources(
        _ mirrors: [String] = mirrors,
        memory: Sources.Memory = .init(),
        hasFailed: Bool = false,
        owner: Int? = nil
    ) -> Sources {
        var sources = Sources(home: home, mirrors: mirrors, memory: memory, hasFailed: hasFailed)
        sources.begin(owner: owner)
        return sources
    }

    @Test func `a 403 may pass for a task that an earlier run of the service was downloading`() {
        for wasServed in [true, false] {
            let memory = wasServed ? Sources.Memory(servedUntil: .zero) : .init()
            var sources = Self.sources([], memory: memory)
            let next = sources.next(after: .failed(.status(403)), Self.mixed, at: .seconds(1))
            var failure = Failure.status(403)
            failure.isTransient = wasServed
            #expect(next == .end(.failed(failure), givingUp: false))
        }
    }

    /// One outcome at a source, and what it leads to.
    struct Row: Sendable, CustomTestStringConvertible {
        let what: String
        var mirrors = SourcesTests.mirrors
        /// Outcomes before it, with what is on disk then.
        var before: [(Sources.Outcome, Sources.StoredBytes)] = []
        let outcome: Sources.Outcome
        var stored = SourcesTests.empty
        let next: Sources.Next
        let position: Int

        var testDescription: String { what }
    }

    static let rows: [Row] = [
        Row(
            what: "one that fails leads to the next",
            outcome: .failed(gone),
            next: .ask(givingUp: false),
            position: 1
        ),
        Row(
            what: "without mirrors a failure is the end",
            mirrors: [],
            outcome: .failed(gone),
            next: .end(.failed(gone), givingUp: false),
            position: 0
        ),
        Row(
            what: "where all have failed, what may pass is said",
            before: [(.failed(gone), empty), (.failed(reset), empty)],
            outcome: .failed(gone),
            next: .end(.failed(reset), givingUp: false),
            position: 2
        ),
        Row(
            what: "where none may pass, the client's own URL is believed",
            before: [(.failed(gone), empty), (.failed(Failure(.serverFailed, "")), empty)],
            outcome: .failed(Failure(.serverFailed, "")),
            next: .end(.failed(gone), givingUp: false),
            position: 2
        ),
        Row(
            what: "a wrong file of one source is given up, and the next is asked",
            outcome: .wrongFile(wrong),
            stored: stored(of: 0),
            next: .ask(givingUp: true),
            position: 1
        ),
        Row(
            what: "a wrong file of several has each of them asked alone, home first",
            before: [(.failed(reset), stored(of: 0))],
            outcome: .wrongFile(wrong),
            stored: mixed,
            next: .ask(givingUp: true),
            position: 0
        ),
        Row(
            what: "a wrong file that is all there is stays to be seen",
            mirrors: [],
            outcome: .wrongFile(wrong),
            stored: stored(of: 0),
            next: .end(.failed(wrong), givingUp: false),
            position: 0
        ),
        Row(
            what: "what has bytes and may pass is tried again before what is wrong",
            before: [(.failed(reset), stored(of: 0)), (.failed(wrong), stored(of: 0))],
            outcome: .failed(gone),
            stored: stored(of: 0),
            next: .end(.failed(reset), givingUp: false),
            position: 2
        ),
        Row(
            what: "the bytes of one whose file is wrong go, those of others stay",
            before: [(.failed(reset), stored(of: 0))],
            outcome: .failed(wrong),
            stored: stored(of: 0),
            next: .ask(givingUp: false),
            position: 2
        ),
        Row(
            what: "bad pieces are asked of the next source",
            outcome: .badPieces(byteCount: 9),
            stored: stored(of: 0),
            next: .ask(givingUp: false),
            position: 1
        ),
        Row(
            what: "pieces are repaired as long as that mends some of them",
            before: (1...9).reversed().map { (.badPieces(byteCount: $0), stored(of: 0)) }
                + Array(repeating: (.badPieces(byteCount: 1), stored(of: 0)), count: 4),
            outcome: .badPieces(byteCount: 1),
            stored: stored(of: 0),
            next: .end(.failed(beyondRepair), givingUp: false),
            position: 1
        ),
        Row(
            what: "two files that take each other's place are not fetched for ever",
            before: [1, 9, 1, 9, 1].map { (.badPieces(byteCount: $0), stored(of: 0)) },
            outcome: .badPieces(byteCount: 9),
            stored: stored(of: 0),
            next: .end(.failed(beyondRepair), givingUp: false),
            position: 2
        ),
        Row(
            what: "pieces that are right at one of many sources are found there",
            mirrors: (1...8).map { "https://mirror\($0).test/file" },
            before: Array(repeating: (.badPieces(byteCount: 9), stored(of: 0)), count: 7),
            outcome: .badPieces(byteCount: 9),
            stored: stored(of: 0),
            next: .ask(givingUp: false),
            position: 8
        ),
        Row(
            what: "pieces are not repaired for ever",
            before: Array(repeating: (.badPieces(byteCount: 9), stored(of: 0)), count: 5),
            outcome: .badPieces(byteCount: 9),
            stored: stored(of: 0),
            next: .end(.failed(beyondRepair), givingUp: false),
            position: 2
        ),
        Row(
            what: "a host that rests leads to the next",
            outcome: .rests(.seconds(9)),
            next: .ask(givingUp: false),
            position: 1
        ),
        Row(
            what: "while home rests, the task waits for it",
            before: [(.rests(.seconds(9)), empty), (.failed(reset), empty)],
            outcome: .failed(reset),
            next: .end(.held(.hostRests(for: .seconds(9))), givingUp: false),
            position: 2
        ),
        Row(
            what: "while a mirror rests, home is tried again like any other",
            before: [(.failed(reset), empty), (.rests(.seconds(9)), empty)],
            outcome: .failed(gone),
            next: .end(.failed(reset), givingUp: false),
            position: 2
        ),
        Row(
            what: "a mirror that rests may still have what the others have not",
            before: [(.failed(gone), empty), (.rests(.seconds(9)), empty)],
            outcome: .failed(gone),
            next: .end(.held(.hostRests(for: .seconds(9))), givingUp: false),
            position: 2
        ),
    ]

    private static let beyondRepair = Failure(
        .checksumMismatch,
        "Parts of the file are wrong at every source. Check the checksums, or "
            + Failure.freshLink
    )

    @Test(arguments: rows) func `an outcome leads to the next source or the end`(row: Row) {
        var sources = Self.sources(row.mirrors)
        for (outcome, stored) in row.before { _ = sources.next(after: outcome, stored) }
        #expect(sources.next(after: row.outcome, row.stored) == row.next)
        #expect(sources.position == row.position)
    }

    // MARK: Asked alone

    /// Sources that have brought a wrong file together.
    private static func alone(hasFailed: Bool = true) -> Sources {
        var sources = sources(hasFailed: hasFailed)
        _ = sources.next(after: .wrongFile(wrong), mixed)
        return sources
    }

    @Test func `one that is asked alone goes on in the next attempt while it brings more`() {
        var sources = Self.alone()
        #expect(sources.areTriedAlone && !sources.mayMix)
        let next = sources.next(after: .failed(Self.reset), Self.stored(of: 0))
        #expect(next == .end(.failed(Self.reset), givingUp: false))
        let memory = sources.memory(after: Self.reset, owner: 0, isEmpty: false)
        #expect(Self.sources(memory: memory, hasFailed: true, owner: 0).position == 0)
    }

    @Test func `one that is asked alone and brings nothing makes room for the next`() {
        var sources = Self.alone()
        let stored = Self.stored(of: 0, hasMore: false)
        #expect(sources.next(after: .failed(Self.reset), stored) == .ask(givingUp: false))
        #expect(sources.position == 1)
    }

    @Test func `one that is asked alone keeps what it has once all turns are taken`() {
        var sources = Self.alone()
        for _ in 0..<4 { sources.countOverwrite() }
        let stored = Self.stored(of: 0, hasMore: false)
        let next = sources.next(after: .failed(Self.reset), stored)
        #expect(next == .end(.failed(Self.reset), givingUp: false))
    }

    @Test func `a try by hand gives new turns`() {
        var sources = Self.alone()
        for _ in 0..<4 { sources.countOverwrite() }
        let memory = sources.memory(after: Self.reset, owner: 0, isEmpty: false)
        var again = Self.sources(memory: memory, hasFailed: false, owner: 0)
        let stored = Self.stored(of: 0, hasMore: false)
        #expect(again.next(after: .failed(Self.reset), stored) == .ask(givingUp: false))
    }

    // MARK: From one attempt to the next

    @Test func `an attempt begins past those that are known to be wrong`() {
        var sources = Self.sources()
        _ = sources.next(after: .wrongFile(Self.wrong), Self.stored(of: 0))
        let memory = sources.memory(after: Self.reset, owner: 0, isEmpty: false)
        let next = Self.sources(memory: memory, hasFailed: true)
        #expect(next.position == 1 && next.homeHasNone)
        #expect(next.besides(1, hasDigest: true) == [1])
    }

    @Test func `a failure that says that nobody has it right trusts all again`() {
        var sources = Self.sources()
        _ = sources.next(after: .wrongFile(Self.wrong), Self.stored(of: 0))
        let memory = sources.memory(after: Self.wrong, owner: nil, isEmpty: true)
        #expect(!memory.hasDoubts)
        #expect(Self.sources(memory: memory).position == 0)
    }

    @Test func `a fresh link is asked whatever its predecessor has brought`() {
        var sources = Self.sources()
        sources.add("https://named.example/file")
        _ = sources.next(after: .wrongFile(Self.wrong), Self.stored(of: 0))
        let memory = sources.memory(after: Self.reset, owner: 0, isEmpty: false)
        let fresh = Sources(home: Self.home + "?fresh", mirrors: [], memory: memory)
        #expect(fresh.isOfAnother(memory))
        #expect(fresh.urls == [Self.home + "?fresh"])
    }

    @Test func `named mirrors are remembered, and no more than a hundred`() {
        var sources = Self.sources([])
        for number in 0..<200 { sources.add("https://named.example/\(number)") }
        #expect(sources.urls.count == 101 && sources.isNamed(1))
        let memory = sources.memory(after: Self.reset, owner: 0, isEmpty: false)
        #expect(Self.sources([], memory: memory).urls.count == 101)
    }

    @Test func `only HTTP mirrors bring parts beside others, and only with a digest`() {
        var sources = Self.sources()
        #expect(sources.besides(0, hasDigest: false) == [0])
        #expect(sources.besides(0, hasDigest: true) == [0, 1])
        sources.drop(1)
        #expect(sources.besides(0, hasDigest: true) == [0])
        #expect(Self.alone().besides(0, hasDigest: true) == [0])
    }

    @Test func `home is gone once its network failed in two attempts without a byte`() {
        let nothing = Self.stored(of: 0, hasMore: false)
        for (hasFailed, stored, isGone) in [
            (true, nothing, true), (false, nothing, false), (true, Self.stored(of: 0), false),
        ] {
            var sources = Self.sources(hasFailed: hasFailed)
            _ = sources.next(after: .failed(Self.reset), stored)
            #expect(sources.homeIsGone == isGone)
        }
    }
}
