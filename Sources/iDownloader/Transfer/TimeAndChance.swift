// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

/// The clocks and the random numbers: the system's, or those of a simulation.
package struct TimeAndChance: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// Returns the date, which the user may set.
    let readCalendar: @Sendable () -> WallTime
    /// Reads a clock that only goes forward, also while the machine sleeps.
    let readClock: @Sendable () -> Instant
    /// Returns at that moment; throws where the task is cancelled before.
    let wait: @Sendable (Instant) async throws -> Void
    /// Returns a random number, all values equally likely.
    let roll: @Sendable () -> UInt64

    /// The system's: CLOCK_REALTIME and CLOCK_BOOTTIME of clock_gettime(2), getrandom(2).
    package static let system = TimeAndChance(
        readCalendar: {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
            return WallTime(microseconds: microseconds)
        },
        readClock: { .now },
        wait: { try await Task.sleep(until: $0, clock: .continuous) },
        roll: {
            var generator = SystemRandomNumberGenerator()
            return generator.next()
        }
    )

    /// The date, for people and for the record.
    package var date: WallTime { readCalendar() }

    /// The present time by the clock that only goes forward.
    package var now: Instant { readClock() }

    /// Returns at that moment; throws if the Swift task is cancelled before.
    package func sleep(until moment: Instant) async throws { try await wait(moment) }

    /// Returns after this time; throws if the Swift task is cancelled before.
    package func sleep(for time: Duration) async throws { try await wait(now + time) }
}

extension TimeAndChance: RandomNumberGenerator {
    package func next() -> UInt64 { roll() }
}
