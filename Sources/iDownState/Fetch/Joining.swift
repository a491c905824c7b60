// SPDX-License-Identifier: Apache-2.0

/// Decides how further connections join the lead connection: how many are wanted, which part each
/// brings, and how long none joins after a failure.
package struct Joining: Hashable, Sendable {
    /// The state of the connections at one moment.
    package struct Look: Hashable, Sendable {
        /// A source that may bring parts, and how many more connections its host allows.
        package struct Place: Hashable, Sendable {
            package var source: Int
            package var host: Origin
            package var room: Int
            /// Whether another transfer waits for its first connection to the host.
            package var isAwaited: Bool

            package init(source: Int, host: Origin, room: Int, isAwaited: Bool = false) {
                self.source = source
                self.host = host
                self.room = room
                self.isAwaited = isAwaited
            }
        }

        /// How far a connection has come whose bytes are stored.
        package struct Progress: Hashable, Sendable {
            /// The offset of the next byte to receive.
            package var position: Int64
            /// The offset after the last byte that the connection is to bring.
            package var end: Int64

            package init(position: Int64, end: Int64) {
                self.position = position
                self.end = end
            }
        }

        package var now: Duration
        /// The bytes received, including those that are not written yet.
        package var taken = SegmentMap()
        /// The progress of each connection, by its id.
        package var progress: [Int: Progress] = [:]
        /// How many connections the user chose; nil lets ``RampUp`` find the number.
        package var chosen: Int?
        /// The most connections that this task may have.
        package var ceiling = 1
        /// The sources of ``Fetch/partSources``, with the hosts to ask.
        package var places: [Place] = []
        /// The bytes a second that a rate limit leaves to the transfer; nil without a limit.
        package var share: Int64?
        /// Whether the rate limit holds the transfer back at this moment.
        package var isHeldBack = false

        /// How many more connections all hosts together allow.
        var room: Int {
            Dictionary(places.map { ($0.host, $0.room) }, uniquingKeysWith: max).values.reduce(0, +)
        }
    }

    /// How often the plan is made anew while connections are open or may join.
    package static let interval: Duration = .milliseconds(100)
    /// How many slow connections may be ended for new ones; the limit spares a host that is always
    /// slow.
    private static let mostReplacements = 4
    /// The pause before another connection joins after a failure; it doubles with each failure.
    private static let firstPause: Duration = .milliseconds(500)
    private static let longestPause: Duration = .seconds(30)
    /// The least time after which a joining connection without an answer is given up, where no
    /// connection brings bytes: far less than an answer may otherwise take.
    private static let longestSilence: Duration = .seconds(2)
    /// A connection that fails after this many bytes (64 KiB) starts the doubling anew.
    private static let progress: Int64 = 64 << 10

    /// The source of the lead connection.
    package let source: Int
    /// Whether no connection joins any more, because the server serves no ranges of this version.
    package private(set) var isClosed = false
    /// Whether asking again at the task's own URL has not helped.
    package private(set) var hasFailedAtHome = false
    /// The most connections that have brought bytes at the same time.
    package private(set) var served = 0
    /// The number of connections that the last plan found useful at the only host; nil where it
    /// found no new number.
    package private(set) var finding: UsefulConnections?
    private var rampUp: RampUp
    /// The number of connections that the user chose, by the last look; nil before the first one,
    /// and where ``RampUp`` finds the number.
    private var chosen: Int?
    /// Measures the rate of all connections together.
    private var meter: RateMeter
    /// How long a request waits for its head.
    private var headTime: Duration
    /// The bytes a second that one connection typically brings; nil while that is unknown.
    private var typical: Int64?
    private var replacementsLeft = Self.mostReplacements
    private var failures = 0
    private var pausedUntil: Duration = .zero

    /// - Parameters:
    ///   - source: the source of the lead connection.
    ///   - headTime: how long the lead connection waited for the head of its answer.
    ///   - known: how many connections were useful at this host before.
    ///   - stored: the number of bytes on disk.
    ///   - now: a reading of a clock that only goes forward.
    package init(
        source: Int,
        headTime: Duration,
        known: UsefulConnections? = nil,
        stored: Int64 = 0,
        at now: Duration
    ) {
        self.source = source
        self.headTime = headTime
        rampUp = RampUp(known: known, at: now)
        meter = RateMeter(count: stored, at: now)
    }

    /// Plans what the connections do next.
    ///
    /// - Parameters:
    ///   - look: the state of the connections.
    ///   - segments: what the connections work at, in the order of their ids.
    ///   - served: how many connections have brought bytes.
    ///   - mostServed: how many connections a host served when it did not answer others; nil where
    ///     no host left one unanswered.
    ///   - file: what is known of the file.
    /// - Returns: the plan, to be carried out immediately; nil where the length is unknown.
    package mutating func plan(
        _ look: Look,
        _ segments: [SegmentPlan.Segment],
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
        read(count, segments, at: look.now)
        self.served = max(self.served, served)
        let isThrottled = isThrottled(look)
        var (ceiling, ownCeiling) = (min(look.ceiling, mostServed ?? .max), look.ceiling)
        let mayEverHaveMore = ceiling > 1
        // Another transfer waits for its first connection: this one makes do with one less.
        if look.places.contains(where: \.isAwaited) {
            ceiling = max(1, min(ceiling, segments.count - 1))
            ownCeiling = ceiling
        }
        let reading = RampUp.Reading(
            open: segments.count { $0.isJudged },
            pending: segments.count { !$0.isJudged },
            bytesPerSecond: meter.perSecond,
            bytesLeft: total - count,
            headTime: headTime,
            isThrottled: isThrottled
        )
        advance(reading, look, ceiling: ceiling, ownCeiling: ownCeiling)
        // While no range was served yet, one connection tries before the others join.
        let most = file.servesRanges ? ceiling : min(ceiling, 2)
        let isOpen = isOpen(at: look.now)
        return SegmentPlan(
            total: total,
            stored: look.taken,
            segments: segments,
            wanted: min(rampUp.wanted, most),
            ceiling: most,
            room: isOpen ? look.room : 0,
            headTime: headTime,
            typical: typical,
            // Under a rate limit a race brings nothing sooner, and uses up bytes of other
            // transfers.
            mayRace: !isThrottled,
            // A task limited to one connection never has two, not even while one replaces the
            // other.
            mayReplace: mayEverHaveMore && !isThrottled && replacementsLeft > 0 && isOpen
        )
    }

    /// Goes on with the trial, and notes the number that it has just found.
    ///
    /// A number found with several sources says nothing about one host. There may be more than the
    /// number only where the task's own ceiling ended the trial, and not the host.
    private mutating func advance(
        _ reading: RampUp.Reading,
        _ look: Look,
        ceiling: Int,
        ownCeiling: Int
    ) {
        let before = rampUp.finding
        rampUp.advance(reading, ceiling: ceiling, at: look.now)
        finding = nil
        if let found = rampUp.finding, found != before, look.places.count == 1 {
            finding = UsefulConnections(found, mayBeMore: found >= ownCeiling)
        }
    }

    /// Whether a connection may join now.
    private func isOpen(at now: Duration) -> Bool { !isClosed && now >= pausedUntil }

    /// Whether a rate limit, not the number of connections, holds the transfer back.
    private func isThrottled(_ look: Look) -> Bool {
        guard let share = look.share else { return false }
        return look.isHeldBack || Double(meter.perSecond ?? 0) >= Double(share) * 0.9
    }

    /// Measures how fast bytes come, in all and over a typical connection.
    private mutating func read(_ count: Int64, _ segments: [SegmentPlan.Segment], at now: Duration)
    {
        meter.read(count, at: now)
        let rates = segments.compactMap(\.bytesPerSecond).sorted()
        // A median of zero is not typical of a connection: then the fastest one counts.
        if rates.count > 1, rates[rates.count / 2] > 0 {
            typical = rates[rates.count / 2]
        } else if let rate = rates.last {
            typical = max(typical ?? 0, rate)
        }
    }

    /// Whether a head is so late that the connection is given up where no other is open: some hosts
    /// accept connections and never answer them.
    package func isSilence(_ age: Duration) -> Bool { age > max(Self.longestSilence, headTime * 8) }

    // MARK: How joining connections fare

    /// Records how long a joining connection waited for its head.
    package mutating func headCame(after time: Duration) { headTime = (headTime * 3 + time) / 4 }

    /// Records that a joining connection failed after this many bytes.
    package mutating func failed(after bytes: Int64, at now: Duration) {
        failures = bytes >= Self.progress ? 1 : failures + 1
        let pause = Self.firstPause * (1 << min(failures - 1, 10))
        pausedUntil = now + min(pause, Self.longestPause)
    }

    /// Pauses joining, because the host allows no more; its limit says how many it allows.
    package mutating func refused(at now: Duration) {
        pausedUntil = max(pausedUntil, now + Self.firstPause)
    }

    /// Records that a joining connection has brought all it was to bring.
    package mutating func succeeded() { failures = 0 }

    /// Records that a slow connection was ended for a new one.
    package mutating func replacedOne() { replacementsLeft -= 1 }

    /// Lets no connection join any more: the server serves no ranges of this version.
    package mutating func close() { isClosed = true }

    /// Records that asking again at the task's own URL has not helped.
    package mutating func failedAtHome() { hasFailedAtHome = true }
}

extension Joining.Look {
    /// Makes a look at a moment, in which no connection has brought anything.
    package init(at now: Duration) { self.init(now: now) }
}
