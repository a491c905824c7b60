// SPDX-License-Identifier: Apache-2.0

/// The URLs that a file can be fetched from, which one is asked next, and why.
///
/// The first is the task's own URL, called home; an attempt begins there. Without a digest that
/// checks the bytes of several sources, one source after the other is asked, until one has brought
/// the file. If a file from several sources has a wrong digest, each source is tried alone from
/// then on, and has to bring all of it.
package struct Sources: Hashable, Sendable {
    /// How it went with one source.
    package enum Outcome: Hashable, Sendable {
        /// Pieces of this many bytes have a wrong hash; the others need not be fetched again.
        case badPieces(byteCount: Int64)
        /// All of the file is there, and it is not the right one.
        case wrongFile(Failure)
        case failed(Failure)
        /// The host asked to be left alone for this long.
        case rests(Duration)

        /// The name in the history.
        package var name: String {
            switch self {
            case .badPieces: "bad-pieces"
            case .wrongFile(let failure), .failed(let failure): failure.code.rawValue
            case .rests: "host-rests"
            }
        }
    }

    /// What to do next.
    package enum Next: Hashable, Sendable {
        /// Ask the current source; `givingUp` says that the bytes on disk are worthless.
        case ask(givingUp: Bool)
        case end(TransferEnd, givingUp: Bool)

        /// Whether the bytes on disk are worthless.
        var givesUp: Bool {
            switch self {
            case .ask(let isWorthless), .end(_, let isWorthless): isWorthless
            }
        }
    }

    /// How the bytes on disk relate to the source that was asked.
    package struct StoredBytes: Hashable, Sendable {
        package var isEmpty: Bool
        /// The source that gave all bytes on disk; nil where no single source did, or none is
        /// known.
        package var owner: Int?
        /// Whether more bytes are on disk than before the source was asked.
        package var hasMore: Bool
        /// Whether the bytes on disk had another owner before.
        package var hasTakenOver: Bool
    }

    /// What the next attempt has to know, so that it does not begin with a source whose file is
    /// known to be wrong.
    package struct Memory: Hashable, Sendable {
        /// The task's own URL during the attempts that learned the rest.
        fileprivate var home = ""
        /// The URLs of sources that have a wrong file.
        fileprivate var wrong: Set<String> = []
        fileprivate var areTriedAlone = false
        fileprivate var overwritesLeft = Sources.mostOverwrites
        /// The source that gave all bytes on disk.
        fileprivate var owner: String?
        /// The mirrors that servers have named.
        fileprivate var named: [String] = []
        /// What each source, by its URL, has served of late and refused since.
        fileprivate var limits: [String: LimitEvidence] = [:]

        package init() {}

        /// Makes the memory of a task whose bytes an earlier run of the service has brought: its own
        /// URL, which is not known here, counts as having served it until `now`.
        init(servedUntil now: Duration) {
            limits[home, default: LimitEvidence()].served(isRange: false, at: now)
        }

        /// Whether any source is not trusted.
        package var hasDoubts: Bool { !wrong.isEmpty || areTriedAlone }

        /// Whether the next attempt would act differently without it.
        package var changesNextAttempt: Bool { isAboutSeveral || !limits.isEmpty }

        fileprivate var isAboutSeveral: Bool { hasDoubts || !named.isEmpty }
    }

    /// The most mirrors of a task; more that servers offer are ignored (contract, Limits).
    package static let mostMirrors = 100
    /// How often in a row pieces with a wrong hash are fetched again without mending any, each time
    /// from the next source; where there are more sources, each of them is asked.
    private static let mostRepairs = 5
    /// How often sources that are tried alone may overwrite what another has brought.
    private static let mostOverwrites = 4

    /// The sources in normal form, the task's own URL first.
    package private(set) var urls: [String]
    /// How many of the sources the client has given; servers have named the others.
    private let given: Int
    /// The index of the current source in ``urls``.
    package private(set) var position = 0
    /// Whether the previous attempt failed and this one was not asked for by the user.
    private let hasFailed: Bool

    /// Sources that failed, or were slower than others: they bring no further parts.
    private var dropped: Set<Int> = []
    /// Whether several sources may bring parts of one file.
    package private(set) var mayMix: Bool
    /// Whether each source is tried alone and has to bring the whole file, because several together
    /// have brought a wrong one.
    package var areTriedAlone: Bool { learned.areTriedAlone }
    /// What this attempt and earlier ones have learned; `owner` and `named` are the last attempt's.
    private var learned: Memory

    /// The failures of the sources that have brought no file in this attempt.
    private var failures: [Failure] = []
    /// The first of them that is transient while there are bytes on disk to continue with.
    private var hope: Failure?
    /// The first pause that a source's host asked for, and whether it was the host of the task's own
    /// URL.
    private var rest: Duration?
    private var restsAtHome = false
    private var repairs = 0
    /// The fewest bytes of pieces with a wrong hash so far.
    private var badBytes = Int64.max
    /// Sources that have failed since the last repair of pieces.
    private var failed: Set<Int> = []
    /// Sources that had a wrong file before; they are asked only after all others have failed.
    private var askedLast: Set<Int> = []
    /// Whether the task's own URL has failed for good in this attempt.
    package private(set) var homeHasNone = false
    /// Whether the network failed at the task's own URL in this attempt, after an attempt that
    /// failed too.
    package private(set) var homeIsGone = false
    /// The failure of a mirror whose file has another length; nil where there was none.
    private var otherFile: Failure?

    /// - Parameters:
    ///   - home: the task's own URL.
    ///   - mirrors: the mirrors that the client gave.
    ///   - memory: what earlier attempts have learned.
    ///   - hasFailed: whether the last attempt failed and the user has not asked for this one.
    package init(
        home: String,
        mirrors: [String],
        memory: Memory = Memory(),
        hasFailed: Bool = false
    ) {
        learned = memory
        if memory.home.isEmpty {
            learned.limits[home] = learned.limits.removeValue(forKey: memory.home)
        } else if memory.home != home {
            // A fresh link is trusted, whatever it has brought before. Mirrors that servers named
            // for the old link say nothing about the new one.
            learned.wrong.remove(home)
            learned.named = []
            learned.limits[memory.home] = nil
        }
        learned.home = home
        urls = [home]
        for mirror in mirrors where !urls.contains(mirror) && urls.count <= Self.mostMirrors {
            urls.append(mirror)
        }
        given = urls.count
        self.hasFailed = hasFailed
        mayMix = !memory.areTriedAlone
        if !hasFailed || memory.home != home {
            // The user asked for this attempt: overwriting is allowed anew, past refusals do not
            // count.
            learned.overwritesLeft = Self.mostOverwrites
            for url in learned.limits.keys { learned.limits[url]?.forgetRefusals() }
        }
        for mirror in learned.named { add(mirror) }
    }

    /// Begins with the task's own URL, unless earlier attempts have found out better.
    ///
    /// - Parameter owner: the source that gave all bytes on disk; nil where no single source did,
    ///   or none is known, and where there are no bytes.
    package mutating func begin(owner: Int?) {
        // Every source had a wrong file; one may have the right one by now.
        if wrongPositions.count == urls.count { trustAll() }
        beginRound()
        if failed.contains(0) { homeHasNone = true }
        if let owner, areTriedAlone, !failed.contains(owner) { position = owner }
    }

    /// Returns the source that gave all bytes on disk, as the last attempt recorded it.
    package func owner(by memory: Memory) -> Int? { memory.owner.flatMap(urls.firstIndex) }

    /// Returns what the next attempt has to know.
    ///
    /// - Parameters:
    ///   - failure: why this attempt has ended; nil where it was stopped.
    ///   - owner: the source that gave all bytes on disk; nil where no single source did, or none
    ///     is known.
    ///   - isEmpty: whether nothing is on disk.
    /// - Returns: what the next attempt begins with.
    package mutating func memory(after failure: Failure?, owner: Int?, isEmpty: Bool) -> Memory {
        // No source has the right file: the next attempt trusts all of them again.
        if failure?.code.spoilsContent == true { trustAll() }
        var memory = learned
        memory.named = isEmpty && !memory.hasDoubts ? [] : Array(urls[given...])
        memory.owner = urls.count > 1 && memory.isAboutSeveral ? owner.map { urls[$0] } : nil
        return memory
    }

    // MARK: What there is

    package var current: String { urls[position] }

    /// Whether the task's own URL is the current source.
    package var isAtHome: Bool { position == 0 }

    /// Whether a server has named this source, and not the client.
    package func isNamed(_ source: Int) -> Bool { source >= given }

    /// Whether this source is asked by HTTP, where an answer says which bytes it brings.
    package func isHTTP(_ source: Int) -> Bool {
        urls[source].hasPrefix("https:") || urls[source].hasPrefix("http:")
    }

    /// Whether the memory is from attempts with another URL of the task.
    package func isOfAnother(_ memory: Memory) -> Bool {
        !memory.home.isEmpty && memory.home != urls[0]
    }

    /// Adds a mirror at the end, unless it is known or there are ``mostMirrors``.
    package mutating func add(_ mirror: String) {
        guard urls.count <= Self.mostMirrors, !urls.contains(mirror) else { return }
        urls.append(mirror)
    }

    // MARK: Limits of hosts

    /// Records that a source has brought bytes until now, as an answer to a range or not.
    package mutating func served(_ source: Int, isRange: Bool, at now: Duration) {
        learned.limits[urls[source], default: LimitEvidence()].served(isRange: isRange, at: now)
    }

    /// Whether the current source has served a part of the file: then a 403 is not about ranges.
    package var hasServedRange: Bool { learned.limits[current]?.hasServedRange == true }

    // MARK: Side by side

    /// Returns the sources that may bring parts.
    ///
    /// - Parameters:
    ///   - first: the source of the lead connection.
    ///   - hasDigest: whether a digest checks what several sources bring together.
    /// - Returns: indices in ``urls``, `first` before the others.
    package func besides(_ first: Int, hasDigest: Bool) -> [Int] {
        guard mayMix, hasDigest else { return [first] }
        return [first]
            + urls.indices.filter {
                $0 != first && isHTTP($0) && !dropped.contains($0)
                    && !learned.wrong.contains(urls[$0])
            }
    }

    /// Fetches no further parts from this source.
    package mutating func drop(_ source: Int) { dropped.insert(source) }

    /// Counts that a source that is tried alone overwrites what another has brought.
    package mutating func countOverwrite() {
        learned.overwritesLeft = max(0, learned.overwritesLeft - 1)
    }

    /// Records the failure of a mirror whose file has another length.
    package mutating func noteOtherFile(_ failure: Failure) { otherFile = failure }

    // MARK: One after the other

    /// Decides what comes after the source that was asked.
    ///
    /// - Parameters:
    ///   - outcome: how it went with that source.
    ///   - stored: how the bytes on disk relate to it.
    ///   - load: how far other tasks' connections use up what its host allows.
    ///   - now: a reading of a clock that only goes forward.
    /// - Returns: what to do next.
    package mutating func next(
        after outcome: Outcome,
        _ stored: StoredBytes,
        load: HostLimits.Load = .none,
        at now: Duration = .zero
    ) -> Next {
        switch outcome {
        case .badPieces(let byteCount):
            mayMix = false
            homeIsGone = false
            repairs = byteCount < badBytes ? 1 : repairs + 1
            badBytes = min(badBytes, byteCount)
            guard repairs <= max(Self.mostRepairs, urls.count) else {
                return .end(.failed(Self.beyondRepair), givingUp: false)
            }
            // Any source may have some right pieces. The current one may have brought the wrong
            // ones: it is the last to be asked for them again.
            failed = []
            rotate()
            return .ask(givingUp: false)
        case .wrongFile(let failure):
            let isMixed = urls.count > 1 && !stored.isEmpty && stored.owner != position
            guard !isMixed || areTriedAlone else {
                // Any of the sources may have brought the wrong bytes: each is tried alone now.
                learned.areTriedAlone = true
                mayMix = false
                beginRound()
                return .ask(givingUp: true)
            }
            if !isMixed { learned.wrong.insert(current) }
            return goOn(after: failure, stored, givingUp: true)
        case .failed(let answer):
            // Evidence is kept only for a source that has served the task, or is serving others.
            var evidence = learned.limits[current] ?? LimitEvidence()
            let failure = evidence.judge(answer, load: load, at: now)
            if load == .some || learned.limits[current] != nil {
                learned.limits[current] = evidence
            }
            if isAtHome, hasFailed, failure.code.isOfNetwork { homeIsGone = !stored.hasMore }
            if goesOnAlone(after: failure, stored) {
                return .end(.failed(failure), givingUp: false)
            }
            // A wrong size in the head concerns only this source's file, not other sources' bytes.
            let isWrong = failure.code.spoilsContent
            if isWrong { learned.wrong.insert(current) }
            let isItsOwn = stored.owner == position
            return goOn(after: failure, stored, givingUp: isWrong && isItsOwn)
        case .rests(let time):
            // The pause concerns this host only; of several pauses the first one counts.
            if rest == nil { (rest, restsAtHome) = (time, isAtHome) }
            return rotatesPast() ? .ask(givingUp: false) : .end(end, givingUp: false)
        }
    }

    /// Whether a source that is tried alone continues in the next attempt: while each attempt
    /// brings more, or once other sources may not overwrite its bytes any more.
    private func goesOnAlone(after failure: Failure, _ stored: StoredBytes) -> Bool {
        guard areTriedAlone, failure.isTransient, !stored.isEmpty, stored.owner == position
        else { return false }
        return stored.hasTakenOver || stored.hasMore || learned.overwritesLeft == 0
    }

    private mutating func goOn(
        after failure: Failure,
        _ stored: StoredBytes,
        givingUp isWorthless: Bool
    ) -> Next {
        if isAtHome, !failure.isTransient { homeHasNone = true }
        failures.append(failure)
        if failure.isTransient, !stored.isEmpty { hope = hope ?? failure }
        guard rotatesPast() else {
            // If the task fails with a wrong file, its bytes stay for the user to look at.
            let end = end
            return .end(end, givingUp: isWorthless && !end.spoilsContent)
        }
        return .ask(givingUp: isWorthless)
    }

    private mutating func beginRound() {
        failed = wrongPositions
        askedLast = failed
        position = urls.indices.first { !failed.contains($0) } ?? 0
    }

    private var wrongPositions: Set<Int> {
        Set(urls.indices.filter { learned.wrong.contains(urls[$0]) })
    }

    /// Trusts every source again.
    private mutating func trustAll() {
        learned.wrong = []
        learned.areTriedAlone = false
        learned.overwritesLeft = Self.mostOverwrites
    }

    /// Goes on to the next source that has not failed.
    ///
    /// When all have, sources that had a wrong file before get another chance. Returns false where
    /// no source is left.
    private mutating func rotatesPast() -> Bool {
        failed.insert(position)
        if rotatesToUnfailed() { return true }
        guard rest == nil, hope == nil else { return false }
        failed.subtract(askedLast)
        askedLast = []
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

    /// How an attempt ends in which every source failed or asked for a pause.
    private var end: TransferEnd {
        // A source that asked for a pause may still have the file. If it is the task's own URL, the
        // failures of mirrors do not count; if it is a mirror, transient failures are retried.
        guard let rest, restsAtHome || !verdict.isTransient else { return .failed(verdict) }
        return .held(.hostRests(for: rest))
    }

    /// Why an attempt failed in which every source failed.
    ///
    /// The first of these that there is: a transient failure with bytes on disk, since wrong
    /// sources are not asked in the meantime; a wrong file; another transient failure; a mirror's
    /// file of another length, or instead a refusal that a fresh link may overcome; the first
    /// failure, which is that of the task's own URL.
    private var verdict: Failure {
        if let hope { return hope }
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
