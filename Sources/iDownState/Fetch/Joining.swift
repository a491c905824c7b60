// SPDX-License-Identifier: Apache-2.0

/// By what further connections join a first one: how many are wanted, which part each brings, and
/// how long nobody joins after a failure.
package struct Joining: Hashable, Sendable {
    /// What can be seen of the connections at one moment.
    package struct Look: Hashable, Sendable {
        /// A source that may bring parts, and how many more connections its host allows.
        package struct Place: Hashable, Sendable {
            package var source: Int
            package var host: Origin
            package var room: Int
            /// Whether a transfer that has no connection waits for one of the host's.
            package var isAwaited: Bool

            package init(source: Int, host: Origin, room: Int, isAwaited: Bool = false) {
                self.source = source
                self.host = host
                self.room = room
                self.isAwaited = isAwaited
            }
        }

        /// How far a connection is whose bytes are stored.
        package struct Progress: Hashable, Sendable {
            /// The offset of the next byte that is to come.
            package var position: Int64
            /// The offset behind the last byte that it is to bring.
            package var end: Int64

            package init(position: Int64, end: Int64) {
                self.position = position
                self.end = end
            }
        }

        package var now: Duration
        /// What has come, the bytes that are on their way to the disk included.
        package var taken: SegmentMap
        /// By connection.
        package var progress: [Int: Progress]
        /// How many connections somebody wants; nil leaves it to the trial.
        package var chosen: Int?
        /// The most that this task may have.
        package var ceiling: Int
        /// Where the sources of ``Fetch/partSources`` are asked.
        package var places: [Place]
        /// Bytes a second that a limit leaves to the transfer; nil for no limit.
        package var share: Int64?
        /// Whether the limit holds the transfer back at this moment.
        package var isHeldBack: Bool

        package init(
            now: Duration,
            taken: SegmentMap,
            progress: [Int: Progress],
            chosen: Int? = nil,
            ceiling: Int,
            places: [Place],
            share: Int64? = nil,
            isHeldBack: Bool = false
        ) {
            self.now = now
            self.taken = taken
            self.progress = progress
            self.chosen = chosen
            self.ceiling = ceiling
            self.places = places
            self.share = share
            self.isHeldBack = isHeldBack
        }

        /// How many more connections all hosts allow.
        var room: Int {
            Dictionary(places.map { ($0.host, $0.room) }, uniquingKeysWith: max).values.reduce(0, +)
        }
    }

    /// How often the plan is looked at while there is something to plan.
    package static let interval: Duration = .milliseconds(100)
    /// So many slow connections may be ended for new ones; a host that is always slow is not
    /// asked again and again.
    private static let mostReplacements = 4
    /// After a failure nobody joins for so long, doubled each time that nothing much came before.
    private static let firstPause: Duration = .milliseconds(500)
    private static let longestPause: Duration = .seconds(30)
    /// Far less than an answer may take, where there is something else to try.
    private static let longestSilence: Duration = .seconds(2)
    /// So many bytes of a connection that breaks show that joining works.
    private static let progress: Int64 = 64 << 10

    /// The source that the first connection asks.
    package let source: Int
    /// Nobody joins any more: the server does not serve ranges of this version after all.
    package private(set) var isClosed = false
    /// To ask at the task's own URL again has not helped.
    package private(set) var homeIsNoHelp = false
    /// The most that have brought bytes at once.
    package private(set) var served = 0
    /// The number that the last look has found to be of use to the only host; nil where it has not.
    package private(set) var finding: UsefulConnections?
    private var rampUp: RampUp
    /// The number of connections that somebody wants; nil leaves it to the trial.
    private var chosen: Int?
    /// All connections together.
    private var meter: RateMeter
    /// How long a request waits for its head.
    private var headTime: Duration
    /// What a connection has been seen to bring; nil while nothing is known.
    private var typical: Int64?
    private var replacementsLeft = Self.mostReplacements
    private var failures = 0
    private var pausedUntil: Duration = .zero

    /// - Parameters:
    ///   - source: the one that the first connection asks.
    ///   - headTime: how long its request waited for the head.
    ///   - chosen: how many somebody wants; nil leaves it to the trial.
    ///   - known: how many were of use at this host before.
    ///   - stored: the bytes that are there.
    ///   - now: any clock's reading that only goes forward.
    package init(
        source: Int,
        headTime: Duration,
        chosen: Int? = nil,
        known: UsefulConnections? = nil,
        stored: Int64 = 0,
        at now: Duration
    ) {
        self.source = source
        self.chosen = chosen
        self.headTime = headTime
        rampUp = RampUp(known: chosen.map { UsefulConnections($0) } ?? known, at: now)
        meter = RateMeter(count: stored, at: now)
    }

    /// What the connections are to do next.
    ///
    /// - Parameters:
    ///   - look: what can be seen.
    ///   - pieces: what the connections work at, in order of their ids.
    ///   - served: how many have brought bytes.
    ///   - mostServed: how many a host has served where it did not answer more; nil where none is
    ///     known.
    ///   - file: what is known of it.
    /// - Returns: the plan, to be carried out at once; nil where the length is not known.
    package mutating func plan(
        _ look: Look,
        _ pieces: [SegmentPlan.Piece],
        served: Int = 0,
        mostServed: Int? = nil,
        of file: RemoteVersion
    ) -> SegmentPlan? {
        guard let total = file.total else { return nil }
        if look.chosen != chosen {
            chosen = look.chosen
            rampUp.choose(look.chosen, at: look.now)
        }
        let count = look.taken.byteCount
        read(count, pieces, at: look.now)
        self.served = max(self.served, served)
        let isThrottled = isThrottled(look)
        var (ceiling, ownCeiling) = (min(look.ceiling, mostServed ?? .max), look.ceiling)
        let mayEverHaveMore = ceiling > 1
        // Whoever has several makes room for a transfer that has none.
        if look.places.contains(where: \.isAwaited) {
            ceiling = max(1, min(ceiling, pieces.count - 1))
            ownCeiling = ceiling
        }
        let before = rampUp.finding
        rampUp.advance(
            RampUp.Reading(
                open: pieces.count { $0.isJudged },
                pending: pieces.count { !$0.isJudged },
                bytesPerSecond: meter.perSecond,
                bytesLeft: total - count,
                headTime: headTime,
                isThrottled: isThrottled
            ),
            ceiling: ceiling,
            at: look.now
        )
        // Of several sources together it says nothing of one. What the host does not serve is no
        // use, but what we do not ask for may be.
        finding = nil
        if let found = rampUp.finding, found != before, look.places.count == 1 {
            finding = UsefulConnections(found, mayBeMore: found >= ownCeiling)
        }
        // Nobody has shown yet that there are ranges: one goes ahead of the others.
        let most = file.servesRanges ? ceiling : min(ceiling, 2)
        let isOpen = isOpen(at: look.now)
        return SegmentPlan(
            total: total,
            stored: look.taken,
            pieces: pieces,
            wanted: min(rampUp.wanted, most),
            ceiling: most,
            room: isOpen ? look.room : 0,
            headTime: headTime,
            typical: typical,
            // What a limit slows down, nobody else brings sooner; it only costs what others may.
            mayRace: !isThrottled,
            // One alone stays alone, also for the moment of a change.
            mayReplace: mayEverHaveMore && !isThrottled && replacementsLeft > 0 && isOpen
        )
    }

    /// Whether one may join at this moment.
    private func isOpen(at now: Duration) -> Bool { !isClosed && now >= pausedUntil }

    /// Whether a rate limit, and not the number of connections, is what holds the transfer back.
    private func isThrottled(_ look: Look) -> Bool {
        guard let share = look.share else { return false }
        return look.isHeldBack || Double(meter.perSecond ?? 0) >= Double(share) * 0.9
    }

    /// Takes a look at how fast the bytes come.
    private mutating func read(_ count: Int64, _ pieces: [SegmentPlan.Piece], at now: Duration) {
        meter.read(count, at: now)
        let rates = pieces.compactMap(\.bytesPerSecond).sorted()
        // What all of them bring while nothing comes at all is typical of no connection.
        if rates.count > 1, rates[rates.count / 2] > 0 {
            typical = rates[rates.count / 2]
        } else if let rate = rates.last {
            typical = max(typical ?? 0, rate)
        }
    }

    /// Whether a head that has not come after so long is not to be waited for where nobody else
    /// is at work: there are hosts that take connections and never answer them.
    package func isSilence(_ age: Duration) -> Bool {
        age > max(Self.longestSilence, headTime * 8)
    }

    // MARK: What becomes of those that join

    /// A head came after this time.
    package mutating func headCame(after time: Duration) { headTime = (headTime * 3 + time) / 4 }

    /// A connection that had joined, or was to, has failed after so many bytes.
    package mutating func failed(after bytes: Int64, at now: Duration) {
        failures = bytes >= Self.progress ? 1 : failures + 1
        let pause = Self.firstPause * (1 << min(failures - 1, 10))
        pausedUntil = now + min(pause, Self.longestPause)
    }

    /// The host wants no more for now; its limit says how many it gets.
    package mutating func refused(at now: Duration) {
        pausedUntil = max(pausedUntil, now + Self.firstPause)
    }

    /// A connection that had joined has brought what it was to bring.
    package mutating func succeeded() { failures = 0 }

    /// A slow connection was ended for a new one.
    package mutating func replacedOne() { replacementsLeft -= 1 }

    /// The server does not serve ranges of this version after all.
    package mutating func close() { isClosed = true }

    /// To ask at the task's own URL again has not helped.
    package mutating func noteThatHomeIsNoHelp() { homeIsNoHelp = true }
}
