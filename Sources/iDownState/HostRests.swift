// SPDX-License-Identifier: Apache-2.0

/// The hosts that are to be left alone, and until when: those that asked for it, and those that are
/// busy for everybody.
///
/// All times are durations since the computer started, by a clock that runs during sleep.
package struct HostRests: Hashable, Sendable {
    /// More hosts than this are not remembered: those that come back first make room.
    package static let limit = 10_000
    /// A longer wish binds only the task that was told so (24 hours): the others may ask before.
    package static let longest: Duration = .seconds(86_400)
    /// So many answers in a row that a host is busy concern those alone who were told so: each of
    /// them waits by itself.
    package static let patience = 3
    /// The longest rest of a host that is busy and does not say for how long.
    package static let longestGuess: Duration = .seconds(60)
    /// An answer that the host is busy counts for so long (10 minutes).
    static let memory: Duration = .seconds(600)

    private struct Host: Hashable, Sendable {
        var end: Duration
        /// The answers in a row that it is busy, without a wish.
        var refusals = 0
    }

    private var hosts: [Origin: Host] = [:]

    package init() {}

    /// Takes note of a host's wish.
    ///
    /// A later wish does not shorten an earlier one: two answers may pass each other on their way.
    /// One beyond ``longest`` is not remembered.
    ///
    /// - Parameters:
    ///   - origin: who asks.
    ///   - wish: for how long.
    ///   - now: the present time.
    package mutating func rest(_ origin: Origin, for wish: Duration, now: Duration) {
        guard wish > .zero, wish <= Self.longest else { return }
        change(origin, now: now) { $0.end = max($0.end, now + wish) }
    }

    /// A host is busy, and does not say for how long (429 or 503 without Retry-After).
    ///
    /// Many tasks, each with its own back-off, would ask it dozens of times a second. After some
    /// such answers in a row it rests for a second, and after each further one for twice as long.
    /// What had been asked before the rest began counts no more.
    package mutating func refused(by origin: Origin, now: Duration) {
        guard remaining(of: origin, now: now) == nil else { return }
        change(origin, now: now) { host in
            host.refusals += 1
            host.end = now
            let doublings = host.refusals - Self.patience - 1
            guard doublings >= 0 else { return }
            host.end += min(.seconds(1 << min(doublings, 10)), Self.longestGuess)
        }
    }

    /// The host has given somebody what was asked for: it is not busy for everybody.
    package mutating func answered(by origin: Origin) { hosts[origin]?.refusals = 0 }

    /// How long the host is still to be left alone; nil where it is not.
    package func remaining(of origin: Origin, now: Duration) -> Duration? {
        guard let end = hosts[origin]?.end, end > now else { return nil }
        return end - now
    }

    /// All hosts that are to be left alone, and how long still.
    package func all(now: Duration) -> [Origin: Duration] {
        hosts.filter { $0.value.end > now }.mapValues { $0.end - now }
    }

    /// When the first of them is over; nil where none rests.
    package func next(now: Duration) -> Duration? {
        hosts.values.map(\.end).filter { $0 > now }.min()
    }

    /// Somebody asked for a try all the same: the host may answer for itself.
    package mutating func end(of origin: Origin) { hosts[origin]?.end = .zero }

    private mutating func change(_ origin: Origin, now: Duration, _ body: (inout Host) -> Void) {
        hosts = hosts.filter { $0.value.end > now - ($0.value.refusals > 0 ? Self.memory : .zero) }
        body(&hosts[origin, default: Host(end: .zero)])
        guard hosts.count > Self.limit else { return }
        if let first = hosts.min(by: { $0.value.end < $1.value.end }) { hosts[first.key] = nil }
    }
}
