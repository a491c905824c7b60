// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization

/// Which connections may still be trusted after the computer has slept.
///
/// Those of before the sleep are most often dead, and look alive from here: routers and servers have
/// forgotten them, and libcurl's own clock stood still.
final class AwakeningClock: Sendable {
    /// Until then no connection is used a second time; how long it takes to fall asleep counts too.
    private static let caution: Duration = .seconds(10)
    /// libcurl lets no connection be idle for longer (CURLOPT_MAXAGE_CONN).
    private static let longestIdleness: Duration = .seconds(118)

    private let awakening = Mutex<ContinuousClock.Instant?>(nil)

    /// The computer is awake again.
    func strike(at now: ContinuousClock.Instant = .now) { awakening.withLock { $0 = now } }

    /// What a request that begins now may use.
    func reuse(at now: ContinuousClock.Instant = .now) -> TransferRequest.ConnectionReuse {
        guard let since = awakening.withLock({ $0 }).map({ now - $0 }),
            since < Self.longestIdleness
        else { return .asUsual }
        guard since > Self.caution else { return .never }
        return .usedWithin(seconds: Int(since.components.seconds) - 1)
    }
}
