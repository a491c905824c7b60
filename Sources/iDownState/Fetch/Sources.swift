// SPDX-License-Identifier: Apache-2.0

/// The URLs that a file can be fetched from, who is asked next, and why.
///
/// The first is the client's own; an attempt begins there. Where none of them vouches for what the
/// others bring, one after the other is asked until one has brought the file. Where a file from
/// several of them has a wrong digest, each is asked alone from then on, and has to bring all of it.
package struct Sources: Hashable, Sendable {
    /// What one source has come to.
    package enum Outcome: Hashable, Sendable {
        /// Some pieces do not fit; the rest need not be fetched again.
        case badPieces
        /// All of it is there, and it is not the right file.
        case wrongFile(Failure)
        case failed(Failure)
        /// Its host asked to be left alone.
        case rests(Duration)

        /// As the history has it.
        package var name: String {
            switch self {
            case .badPieces: "bad-pieces"
            case .wrongFile(let failure), .failed(let failure): failure.code.rawValue
            case .rests: "host-rests"
            }
        }
    }

    /// What is to be done after it.
    package enum Next: Hashable, Sendable {
        /// Ask the present source; `givingUp` where the bytes on disk are worth nothing.
        case ask(givingUp: Bool)
        case end(TransferEnd, givingUp: Bool)
    }

    /// How the bytes on disk stand to the source that was asked.
    package struct Standing: Hashable, Sendable {
        package var isEmpty: Bool
        /// The source that all of them are from; nil where nobody knows.
        package var owner: Int?
        /// More of them are there than before it was asked.
        package var hasMore: Bool
        /// They were another source's before.
        package var hasTakenOver: Bool

        package init(isEmpty: Bool, owner: Int?, hasMore: Bool, hasTakenOver: Bool) {
            self.isEmpty = isEmpty
            self.owner = owner
            self.hasMore = hasMore
            self.hasTakenOver = hasTakenOver
        }
    }

    /// What the next attempt has to know, so that it does not begin with a file that is known to be
    /// a wrong one.
    package struct Memory: Hashable, Sendable {
        /// The client's URL that the rest was found out with.
        fileprivate var home = ""
        fileprivate var wrong: Set<String> = []
        fileprivate var areHeardAlone = false
        fileprivate var turnsLeft = Sources.mostTurns
        fileprivate var owner: String?
        fileprivate var named: [String] = []
        fileprivate var limits: [String: LimitEvidence] = [:]

        package init() {}

        /// Whether some source is not trusted.
        package var hasDoubts: Bool { !wrong.isEmpty || areHeardAlone }

        /// Whether the next attempt would go another way without it.
        package var isOfUse: Bool { isAboutSeveral || !limits.isEmpty }

        fileprivate var isAboutSeveral: Bool { hasDoubts || !named.isEmpty }
    }

    /// One that has brought no file in this attempt.
    private struct Refusal: Hashable, Sendable {
        let failure: Failure
        /// It may well pass, and there are bytes to go on with.
        let hasHope: Bool
    }

    /// One that wants to be left alone.
    private struct Rest: Hashable, Sendable {
        let time: Duration
        let isHome: Bool
    }

    /// No more mirrors are kept of what servers offer (contract, Limits).
    package static let mostMirrors = 100
    /// Pieces that do not fit are fetched again so many times, each time from the next source.
    private static let mostRepairs = 5
    /// So often one that is asked alone may write over what another has brought.
    private static let mostTurns = 4

    /// In normal form.
    package private(set) var urls: [String]
    /// How many of them the client has given; all others a server has named.
    private let given: Int
    /// Which of them is asked.
    package private(set) var position = 0
    /// The attempt before this one has failed, and nobody has asked for another.
    private let hasFailed: Bool

    /// Those that have failed or were slow where others were not: they bring no further parts.
    private var dropped: Set<Int> = []
    /// Whether several may bring parts of one file.
    package private(set) var mayMix: Bool
    /// Several together have brought a wrong file: each has to bring all of it.
    package private(set) var areHeardAlone: Bool
    /// Those that have a file, and not the right one.
    private var wrong: Set<String>
    private var turnsLeft: Int
    /// What each source has served of late, and refused since.
    private var limits: [String: LimitEvidence]

    private var refusals: [Refusal] = []
    private var rest: Rest?
    private var repairs = 0
    /// Those that have failed since the last repair.
    private var failed: Set<Int> = []
    /// Those that have had a wrong file before, and are not asked while another may yet have the
    /// right one.
    private var unheard: Set<Int> = []
    /// The client's own URL has failed for good in this attempt.
    package private(set) var homeHasNone = false
    /// Its host is not there, neither in this attempt nor in the one before.
    package private(set) var homeIsGone = false
    /// A mirror has a file of another length.
    private var otherFile: Failure?

    /// - Parameters:
    ///   - home: the client's URL.
    ///   - mirrors: what the client gave beside it.
    ///   - memory: what earlier attempts have found out.
    ///   - hasFailed: the attempt before this one has failed, and nobody has asked for another.
    package init(
        home: String,
        mirrors: [String],
        memory: Memory = Memory(),
        hasFailed: Bool = false
    ) {
        var memory = memory
        if !memory.home.isEmpty, memory.home != home {
            // A fresh link is asked, whatever it has brought before, and what its predecessor has
            // named says nothing.
            memory.wrong.remove(home)
            memory.named = []
            memory.limits[memory.home] = nil
        }
        urls = [home]
        for mirror in mirrors where !urls.contains(mirror) && urls.count <= Self.mostMirrors {
            urls.append(mirror)
        }
        given = urls.count
        self.hasFailed = hasFailed
        wrong = memory.wrong
        areHeardAlone = memory.areHeardAlone
        mayMix = !memory.areHeardAlone
        turnsLeft = memory.turnsLeft
        limits = memory.limits
        if !hasFailed || memory.home != home {
            // Somebody wants a try: each may have its turn again, and past refusals do not count.
            turnsLeft = Self.mostTurns
            for url in limits.keys { limits[url]?.forgetRefusals() }
        }
        for mirror in memory.named { add(mirror) }
    }

    /// Begins with the client's URL, unless earlier attempts have found out better.
    ///
    /// - Parameter owner: the source that all bytes on disk are from; nil where nobody knows, and
    ///   where there are none.
    package mutating func begin(owner: Int?) {
        // Where nobody has it right, somebody may by now.
        if wrongPositions.count == urls.count { trustAll() }
        beginRound()
        if failed.contains(0) { homeHasNone = true }
        if let owner, areHeardAlone, !failed.contains(owner) { position = owner }
    }

    /// The source that all bytes on disk were from after the last attempt, as it told.
    package func owner(by memory: Memory) -> Int? { memory.owner.flatMap(urls.firstIndex) }

    /// What of it the next attempt needs.
    ///
    /// - Parameters:
    ///   - failure: why this one has ended; nil where it was stopped.
    ///   - owner: the source that all bytes on disk are from; nil where nobody knows.
    ///   - isEmpty: nothing is on disk.
    /// - Returns: what the next one begins with.
    package mutating func memory(after failure: Failure?, owner: Int?, isEmpty: Bool) -> Memory {
        // A file that nobody has right is looked for anew.
        if failure?.code.spoilsContent == true { trustAll() }
        var memory = Memory()
        memory.home = urls[0]
        memory.wrong = wrong
        memory.areHeardAlone = areHeardAlone
        memory.turnsLeft = turnsLeft
        memory.limits = limits
        if !isEmpty || memory.hasDoubts { memory.named = Array(urls[given...]) }
        if urls.count > 1, memory.isAboutSeveral { memory.owner = owner.map { urls[$0] } }
        return memory
    }

    // MARK: What there is

    package var current: String { urls[position] }

    /// Whether the URL that the client gave is the one that is asked.
    package var isAtHome: Bool { position == 0 }

    /// Whether a server has named it, and not the client.
    package func isNamed(_ source: Int) -> Bool { source >= given }

    /// Whether it is asked by HTTP, where an answer says which bytes it brings.
    package func isHTTP(_ source: Int) -> Bool {
        urls[source].hasPrefix("https:") || urls[source].hasPrefix("http:")
    }

    /// Whether another client's URL has left this memory.
    package func isOfAnother(_ memory: Memory) -> Bool {
        !memory.home.isEmpty && memory.home != urls[0]
    }

    /// Adds a mirror behind those that are known.
    package mutating func add(_ mirror: String) {
        guard urls.count <= Self.mostMirrors, !urls.contains(mirror) else { return }
        urls.append(mirror)
    }

    // MARK: Limits of hosts

    /// A source has brought bytes until now, as an answer to a range or not.
    package mutating func served(_ source: Int, isRange: Bool, at now: Duration) {
        limits[urls[source], default: LimitEvidence()].served(isRange: isRange, at: now)
    }

    /// Whether the present source has served a part of the file: then a 403 is not about ranges.
    package var hasServedRange: Bool { limits[current]?.hasServedRange == true }

    // MARK: Side by side

    /// Those that may bring parts, `first` before the others.
    ///
    /// - Parameters:
    ///   - first: the source of the first connection.
    ///   - hasDigest: a digest vouches for what several bring together.
    /// - Returns: places in ``urls``.
    package func besides(_ first: Int, hasDigest: Bool) -> [Int] {
        guard mayMix, hasDigest else { return [first] }
        return [first]
            + urls.indices.filter {
                $0 != first && isHTTP($0) && !dropped.contains($0)
                    && !wrong.contains(urls[$0])
            }
    }

    /// Nobody is to bring parts from there any more.
    package mutating func drop(_ source: Int) { dropped.insert(source) }

    /// One that is asked alone writes over what another has brought.
    package mutating func takeTurn() { turnsLeft = max(0, turnsLeft - 1) }

    /// A mirror has a file of another length.
    package mutating func noteOtherFile(_ failure: Failure) { otherFile = failure }

    // MARK: One after the other

    /// Decides what comes after the source that was asked.
    ///
    /// - Parameters:
    ///   - outcome: what it has come to.
    ///   - standing: how the bytes on disk stand to it.
    ///   - isCrowded: whether other tasks have as many connections open as its host allows.
    ///   - now: any clock's reading that only goes forward.
    /// - Returns: what is to be done.
    package mutating func next(
        after outcome: Outcome,
        _ standing: Standing,
        isCrowded: Bool = false,
        at now: Duration = .zero
    ) -> Next {
        switch outcome {
        case .badPieces:
            mayMix = false
            homeIsGone = false
            repairs += 1
            guard repairs <= Self.mostRepairs else {
                return .end(.failed(Self.beyondRepair), givingUp: false)
            }
            // Of each some pieces may be right, and whoever has brought a wrong one is the last to
            // be asked for it again.
            failed = []
            rotate()
            return .ask(givingUp: false)
        case .wrongFile(let failure):
            let isMixed = urls.count > 1 && !standing.isEmpty && standing.owner != position
            guard !isMixed || areHeardAlone else {
                // Which of them was it? Each is asked alone now.
                areHeardAlone = true
                mayMix = false
                beginRound()
                return .ask(givingUp: true)
            }
            if !isMixed { wrong.insert(current) }
            return goOn(after: failure, standing, givingUp: true)
        case .failed(let answer):
            // What was never served has nothing that is worth keeping.
            var evidence = limits[current] ?? LimitEvidence()
            let failure = evidence.judge(answer, isCrowded: isCrowded, at: now)
            if limits[current] != nil { limits[current] = evidence }
            if isAtHome, hasFailed, failure.code.isOfNetwork { homeIsGone = !standing.hasMore }
            if goesOnAlone(after: failure, standing) {
                return .end(.failed(failure), givingUp: false)
            }
            // What its head says of the size is of its own file, and of nobody else's.
            let isWrong = failure.code.spoilsContent
            if isWrong { wrong.insert(current) }
            let isItsOwn = standing.owner == position
            return goOn(after: failure, standing, givingUp: isWrong && isItsOwn)
        case .rests(let time):
            // It is the host's wish, and no other's; the first one counts.
            rest = rest ?? Rest(time: time, isHome: isAtHome)
            return rotatesPast() ? .ask(givingUp: false) : .end(end, givingUp: false)
        }
    }

    /// Whether a source that is asked alone goes on in the next attempt: while it brings more each
    /// time, and where the others have had their turns.
    private func goesOnAlone(after failure: Failure, _ standing: Standing) -> Bool {
        guard areHeardAlone, failure.isTransient, !standing.isEmpty, standing.owner == position
        else { return false }
        return standing.hasTakenOver || standing.hasMore || turnsLeft == 0
    }

    private mutating func goOn(
        after failure: Failure,
        _ standing: Standing,
        givingUp isWorthless: Bool
    ) -> Next {
        if isAtHome, !failure.isTransient { homeHasNone = true }
        let hasHope = failure.isTransient && !standing.isEmpty
        refusals.append(Refusal(failure: failure, hasHope: hasHope))
        guard rotatesPast() else {
            // What a failed task has stays to be seen.
            let end = end
            return .end(end, givingUp: isWorthless && !end.spoilsContent)
        }
        return .ask(givingUp: isWorthless)
    }

    private mutating func beginRound() {
        failed = wrongPositions
        unheard = failed
        position = urls.indices.first { !failed.contains($0) } ?? 0
    }

    private var wrongPositions: Set<Int> { Set(urls.indices.filter { wrong.contains(urls[$0]) }) }

    /// Every source is trusted again.
    private mutating func trustAll() {
        wrong = []
        areHeardAlone = false
        turnsLeft = Self.mostTurns
    }

    /// Goes on to the next one that has not failed, and behind the last begins anew; false where all
    /// have.
    private mutating func rotatesPast() -> Bool {
        failed.insert(position)
        if rotatesToUnfailed() { return true }
        guard rest == nil, !refusals.contains(where: \.hasHope) else { return false }
        failed.subtract(unheard)
        unheard = []
        return rotatesToUnfailed()
    }

    private mutating func rotatesToUnfailed() -> Bool {
        for _ in urls {
            rotate()
            if !failed.contains(position) { return true }
        }
        return false
    }

    private mutating func rotate() { position = (position + 1) % urls.count }

    // MARK: The end

    /// How an attempt ends in which every source has failed, or wants to be left alone.
    private var end: TransferEnd {
        // Whoever rests may still have the file. While home does, nobody counts how often its
        // mirrors fail; while a mirror does, home is tried again like any other.
        guard let rest, rest.isHome || !verdict.isTransient else { return .failed(verdict) }
        return .held(.hostRests(for: rest.time))
    }

    /// What to say where every source has failed: what may well pass, for those that are wrong are
    /// not asked again meanwhile; else that the file is not the right one, else what may pass, else
    /// that another file is all there is, unless a fresh link may give the right one, else what the
    /// client's own URL gave.
    private var verdict: Failure {
        if let hope = refusals.first(where: \.hasHope) { return hope.failure }
        let failures = refusals.map(\.failure)
        let refusal = failures.first {
            $0.code == .serverForbidden || $0.code == .serverAuthRequired
        }
        return failures.first { $0.code.spoilsContent } ?? failures.first(where: \.isTransient)
            ?? otherFile.map { refusal ?? $0 } ?? failures.first ?? .badResponse("contains no file")
    }

    private static let beyondRepair = Failure(
        .checksumMismatch,
        "Parts of the file are wrong at every source. Check the checksums, or \(Failure.freshLink)"
    )
}
