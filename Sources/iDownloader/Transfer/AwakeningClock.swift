// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization

/// Tells which connections may be used again after the computer has slept.
///
/// Connections from before the sleep are mostly dead, because routers and servers have forgotten
/// them. libcurl does not notice: its clock stood still.
final class AwakeningClock: Sendable {
    /// For this long after an awakening no connection is used again.
    ///
    /// It covers the time that falling asleep takes.
    private static let caution: Duration = .seconds(10)
    /// The longest time that libcurl keeps an idle connection (CURLOPT_MAXAGE_CONN).
    private static let longestIdleness: Duration = .seconds(118)

    private let awakening = Mutex<ContinuousClock.Instant?>(nil)

    /// Notes that the computer is awake again.
    func strike(at now: ContinuousClock.Instant = .now) { awakening.withLock { $0 = now } }

    /// Returns which open connections a request that begins now may use.
    func reuse(at now: ContinuousClock.Instant = .now) -> TransferRequest.ConnectionReuse {
        guard let since = awakening.withLock({ $0 }).map({ now - $0 }),
            since < Self.longestIdleness
        else { return .asUsual }
        guard since > Self.caution else { return .never }
        return .usedWithin(seconds: Int(since.components.seconds) - 1)
    }
}
