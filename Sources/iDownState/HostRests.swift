// SPDX-License-Identifier: Apache-2.0

/// Hosts to leave alone, and until when: those that asked for it, and those that are busy.
///
/// All times are readings of one clock that runs during suspend.
package struct HostRests: Hashable, Sendable {
    /// The most hosts to remember; beyond it, those whose rest ends first are dropped.
    package static let limit = 10_000
    /// The longest pause that holds for all tasks (24 hours); a longer one binds only the task that
    /// the host answered.
    package static let longest: Duration = .seconds(86_400)
    /// How many busy answers in a row bind only the tasks that got them; each of those tasks waits
    /// by its own back-off.
    package static let patience = 3
    /// The longest rest of a busy host that does not say for how long.
    package static let longestGuess: Duration = .seconds(60)
    /// How long a busy answer counts (10 minutes).
    static let memory: Duration = .seconds(600)

    private struct Host: Hashable, Sendable {
        var end: Duration
        /// How many busy answers in a row came without a Retry-After.
        var refusals = 0
    }

    private var hosts: [Origin: Host] = [:]

    package init() {}

    /// Records how long a host asked to be left alone.
    ///
    /// A later answer does not shorten an earlier pause, because answers may overtake each other. A
    /// pause longer than ``longest`` is not recorded.
    ///
    /// - Parameters:
    ///   - origin: the host.
    ///   - wish: how long it asked for.
    ///   - now: the present time.
    package mutating func rest(_ origin: Origin, for wish: Duration, now: Duration) {
        guard wish > .zero, wish <= Self.longest else { return }
        change(origin, now: now) { $0.end = max($0.end, now + wish) }
    }

    /// Records that a host is busy and does not say for how long (429 or 503 without Retry-After).
    ///
    /// Many tasks, each with its own back-off, would ask the host dozens of times a second. After
    /// more than ``patience`` such answers in a row it rests for a second, and after each further
    /// one for twice as long. Answers that come during a rest do not count.
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

    /// Records that the host has served a request: it is not busy for all tasks.
    package mutating func answered(by origin: Origin) { hosts[origin]?.refusals = 0 }

    /// Returns how long the host still has to be left alone; nil where it has not.
    package func remaining(of origin: Origin, now: Duration) -> Duration? {
        guard let end = hosts[origin]?.end, end > now else { return nil }
        return end - now
    }

    /// Returns all hosts to leave alone, and for how long still.
    package func all(now: Duration) -> [Origin: Duration] {
        hosts.filter { $0.value.end > now }.mapValues { $0.end - now }
    }

    /// Returns when the first rest ends; nil where no host rests.
    package func next(now: Duration) -> Duration? {
        hosts.values.map(\.end).filter { $0 > now }.min()
    }

    /// Ends a host's rest, because the user asked for a try.
    package mutating func end(of origin: Origin) { hosts[origin]?.end = .zero }

    private mutating func change(_ origin: Origin, now: Duration, _ body: (inout Host) -> Void) {
        hosts = hosts.filter { $0.value.end > now - ($0.value.refusals > 0 ? Self.memory : .zero) }
        body(&hosts[origin, default: Host(end: .zero)])
        guard hosts.count > Self.limit else { return }
        if let first = hosts.min(by: { $0.value.end < $1.value.end }) { hosts[first.key] = nil }
    }
}
