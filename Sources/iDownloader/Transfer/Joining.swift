// SPDX-License-Identifier: Apache-2.0

import iDownState

/// What a transfer goes by when it lets further connections join its first one.
struct Joining {
    /// How often the plan is looked at while there is something to plan.
    static let interval: Duration = .milliseconds(100)
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
    let source: Int
    /// Where the next one asks at each source: the end of the chain of redirects that was followed
    /// last.
    var hops: [Int: Hop]
    var rampUp: RampUp
    /// The number of connections that somebody wants; nil leaves it to the trial.
    private var chosen: Int?
    /// All connections together.
    private(set) var meter: RateMeter
    /// How long a request waits for its head.
    private(set) var headTime: Duration
    /// What a connection has been seen to bring; nil while nothing is known.
    private(set) var typical: Int64?
    /// Nobody joins any more: the server does not serve ranges of this version after all.
    var isClosed = false
    /// The most that have brought bytes at once.
    var served = 0
    /// To ask at the task's own URL again has not helped.
    var homeIsNoHelp = false
    private(set) var replacementsLeft = Self.mostReplacements
    private var failures = 0
    private var pausedUntil: Duration = .zero

    init(
        _ lead: Connection,
        chosen: Int?,
        known: UsefulConnections?,
        stored: Int64,
        at now: Duration
    ) {
        source = lead.source
        hops = [lead.source: lead.hop]
        self.chosen = chosen
        rampUp = RampUp(known: chosen.map { UsefulConnections($0) } ?? known, at: now)
        meter = RateMeter(count: stored, at: now)
        headTime = now - lead.startedAt
    }

    /// Whether one may join at this moment.
    func isOpen(at now: Duration) -> Bool { !isClosed && now >= pausedUntil }

    /// Takes a look at the number that somebody wants now.
    mutating func heed(_ number: Int?, at now: Duration) {
        guard number != chosen else { return }
        chosen = number
        rampUp.choose(number, at: now)
    }

    /// Takes a look at how fast the bytes come.
    mutating func read(stored: Int64, _ pieces: [SegmentPlan.Piece], at now: Duration) {
        meter.read(stored, at: now)
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
    func isSilence(_ age: Duration) -> Bool { age > max(Self.longestSilence, headTime * 8) }

    /// A head came after this time.
    mutating func headCame(after time: Duration) { headTime = (headTime * 3 + time) / 4 }

    /// A connection that had joined, or was to, has failed after so many bytes.
    mutating func failed(after bytes: Int64, at now: Duration) {
        failures = bytes >= Self.progress ? 1 : failures + 1
        let pause = Self.firstPause * (1 << min(failures - 1, 10))
        pausedUntil = now + min(pause, Self.longestPause)
    }

    /// The host wants no more for now; its limit says how many it gets.
    mutating func refused(at now: Duration) {
        pausedUntil = max(pausedUntil, now + Self.firstPause)
    }

    /// A connection that had joined has brought what it was to bring.
    mutating func succeeded() { failures = 0 }

    mutating func replacedOne() { replacementsLeft -= 1 }
}
