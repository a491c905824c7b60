// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
package import iDownState

/// The hosts that asked to be left alone, shared by all transfers and the queue.
package final class HostRestTable: Sendable {
    private let rests = Mutex(HostRests())

    package init() {}

    /// Takes note of a host's wish.
    package func rest(_ origin: Origin, for wish: Duration) {
        let now = Self.now
        rests.withLock { $0.rest(origin, for: wish, now: now) }
    }

    /// Takes up the wish that a task's last failure tells of, after a restart.
    package func restore(from record: TaskRecord, at now: WallTime) {
        guard case .waiting(.retry(let deadline)) = record.state,
            record.failure?.retryAfter != nil, let origin = record.request.origin
        else { return }
        rest(origin, for: deadline.since(now) - RetryPolicy.retryAfterSpread)
    }

    /// How long the host is still to be left alone; nil where it is not.
    package func remaining(of origin: Origin) -> Duration? {
        let now = Self.now
        return rests.withLock { $0.remaining(of: origin, now: now) }
    }

    /// All hosts that are to be left alone, and how long still.
    package var all: [Origin: Duration] {
        let now = Self.now
        return rests.withLock { $0.all(now: now) }
    }

    /// How long until the first of them may be asked again; nil where none rests.
    package var next: Duration? {
        let now = Self.now
        return rests.withLock { $0.next(now: now) }.map { $0 - now }
    }

    /// Somebody wants a try all the same.
    package func end(of origin: Origin?) {
        guard let origin else { return }
        rests.withLock { $0.end(of: origin) }
    }

    /// Since the computer started, sleep included; CLOCK_BOOTTIME of clock_gettime(2).
    private static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
