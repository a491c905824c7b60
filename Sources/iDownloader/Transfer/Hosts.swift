// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
import iDownState

/// The connections of all transfers to each host, and what was learned about hosts.
final class Hosts: Sendable {
    private let limits = Mutex(HostLimits())
    private let start = ContinuousClock.now

    /// The reading of the clock that all of a transfer's times are taken from; it runs on while
    /// the machine sleeps.
    var now: Duration { ContinuousClock.now - start }

    func opened(_ host: URLReference.Origin) {
        let now = now
        limits.withLock { $0.opened(host.key, at: now) }
    }

    /// A connection is gone; `wasServed` where the host had given it something.
    func closed(_ host: URLReference.Origin, wasServed: Bool) {
        let now = now
        limits.withLock { $0.closed(host.key, wasServed: wasServed, at: now) }
    }

    /// How many more connections may join those that are open.
    func room(_ host: URLReference.Origin) -> Int {
        let now = now
        return limits.withLock { $0.room(host.key, at: now) }
    }

    /// Whether transfers with several connections have to give some up.
    func isOverfull(_ host: URLReference.Origin) -> Bool {
        limits.withLock { $0.isOverfull(host.key) }
    }

    /// The number of connections to one file that was found to be of use; nil if none was.
    func useful(_ host: URLReference.Origin) -> Int? {
        let now = now
        return limits.withLock { $0.useful(host.key, at: now) }
    }

    /// The host refused a connection that was to join others, and that still counts as open.
    func refused(_ host: URLReference.Origin, retryAfter: Duration?) {
        let now = now
        limits.withLock { $0.refused(host.key, retryAfter: retryAfter, at: now) }
    }

    func learned(_ host: URLReference.Origin, useful: Int) {
        let now = now
        limits.withLock { $0.learned(host.key, useful: useful, at: now) }
    }
}

extension URLReference.Origin {
    fileprivate var key: String { "\(scheme)://\(host):\(port ?? 0)" }
}
