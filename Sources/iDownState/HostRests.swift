// SPDX-License-Identifier: Apache-2.0

/// The hosts that asked to be left alone, and until when.
///
/// All times are durations since the computer started, by a clock that runs during sleep.
package struct HostRests: Hashable, Sendable {
    /// More hosts than this are not remembered: those that come back first make room.
    package static let limit = 10_000
    /// A longer wish binds only the task that was told so (24 hours): the others may ask before.
    package static let longest: Duration = .seconds(86_400)

    private var ends: [Origin: Duration] = [:]

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
        dropPast(now: now)
        ends[origin] = max(ends[origin] ?? .zero, now + wish)
        guard ends.count > Self.limit else { return }
        if let first = ends.min(by: { $0.value < $1.value }) { ends[first.key] = nil }
    }

    /// How long the host is still to be left alone; nil where it is not.
    package func remaining(of origin: Origin, now: Duration) -> Duration? {
        guard let end = ends[origin], end > now else { return nil }
        return end - now
    }

    /// All hosts that are to be left alone, and how long still.
    package func all(now: Duration) -> [Origin: Duration] {
        ends.filter { $0.value > now }.mapValues { $0 - now }
    }

    /// When the first of them is over; nil where none rests.
    package func next(now: Duration) -> Duration? {
        ends.values.filter { $0 > now }.min()
    }

    /// Somebody asked for a try all the same: the host may answer for itself.
    package mutating func end(of origin: Origin) { ends[origin] = nil }

    private mutating func dropPast(now: Duration) { ends = ends.filter { $0.value > now } }
}
