// SPDX-License-Identifier: Apache-2.0

import Synchronization
import iDownState

@testable import iDownService
@testable import iDownloader

/// The machine's clocks, put ahead by a test.
final class ClocksAhead: Sendable {
    private struct State {
        var ahead: Duration = .zero
        var calendarOff: Duration = .zero
        var rests = 0
    }

    private let state = Mutex(State())

    /// How often somebody has begun to sleep for long.
    var rests: Int { state.withLock { $0.rests } }

    /// Puts both clocks ahead, and the calendar wrong by this much until the next time.
    func pass(_ time: Duration, calendarOff: Duration = .zero) {
        state.withLock { state in
            state.ahead += time
            state.calendarOff = calendarOff
        }
    }

    var time: TimeAndChance {
        let now = { @Sendable in ContinuousClock.now + self.state.withLock { $0.ahead } }
        return TimeAndChance(
            readCalendar: {
                self.state.withLock { WallTime.now.advanced(by: $0.ahead + $0.calendarOff) }
            },
            readClock: now,
            wait: { moment in
                if moment - now() > .seconds(500) { self.state.withLock { $0.rests += 1 } }
                while now() < moment { try await Task.sleep(for: .milliseconds(2)) }
            },
            roll: {
                var dice = SystemRandomNumberGenerator()
                return dice.next()
            }
        )
    }
}
