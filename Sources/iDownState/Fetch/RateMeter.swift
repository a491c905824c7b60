// SPDX-License-Identifier: Apache-2.0

/// How fast a count has grown over the last second, or over another window.
package struct RateMeter: Hashable, Sendable {
    /// Long enough to even out the bursts of a connection, short enough to notice a stall soon.
    package static let window: Duration = .seconds(1)
    /// The shortest time over which a rate is given.
    static let shortestSpan: Duration = .milliseconds(50)

    private struct Reading: Hashable, Sendable {
        let time: Duration
        let count: Int64
    }

    /// The readings, oldest first; the first may lie a little outside the window.
    private var readings: [Reading]
    private let window: Duration

    /// - Parameters:
    ///   - count: the count at the start.
    ///   - time: a reading of a clock that only goes forward.
    ///   - window: the time over which the rate is measured.
    package init(count: Int64, at time: Duration, over window: Duration = RateMeter.window) {
        readings = [Reading(time: time, count: count)]
        self.window = window
    }

    /// Adds a reading, unless it is no later than the last one.
    package mutating func read(_ count: Int64, at time: Duration) {
        guard let last = readings.last, time > last.time else { return }
        readings.append(Reading(time: time, count: count))
        while readings.count > 2, time - readings[1].time >= window { readings.removeFirst() }
    }

    /// The time over which the rate is measured.
    package var span: Duration {
        guard let first = readings.first, let last = readings.last else { return .zero }
        return last.time - first.time
    }

    /// How much the count grew a second; nil while it is too early to say.
    package var perSecond: Int64? {
        guard span >= Self.shortestSpan, let first = readings.first, let last = readings.last
        else { return nil }
        let gained = Double(max(0, last.count - first.count))
        return Int64(exactly: (gained / (span / .seconds(1))).rounded()) ?? .max
    }
}
