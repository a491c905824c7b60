// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import iDownState

/// The hosts that asked to be left alone, shared by all transfers and the queue.
package final class HostRestTable: Sendable {
    private let rests = Mutex(HostRests())

    private let time: TimeAndChance
    private let start: TimeAndChance.Instant

    package init(_ time: TimeAndChance = .system) {
        self.time = time
        start = time.now
    }

    /// Takes note of a host's wish.
    package func rest(_ origin: Origin, for wish: Duration) {
        let now = self.now
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
        let now = self.now
        return rests.withLock { $0.remaining(of: origin, now: now) }
    }

    /// All hosts that are to be left alone, and how long still.
    package var all: [Origin: Duration] {
        let now = self.now
        return rests.withLock { $0.all(now: now) }
    }

    /// How long until the first of them may be asked again; nil where none rests.
    package var next: Duration? {
        let now = self.now
        return rests.withLock { $0.next(now: now) }.map { $0 - now }
    }

    /// Somebody wants a try all the same.
    package func end(of origin: Origin?) {
        guard let origin else { return }
        rests.withLock { $0.end(of: origin) }
    }

    /// A clock that runs on while the machine sleeps.
    private var now: Duration { time.now - start }
}
