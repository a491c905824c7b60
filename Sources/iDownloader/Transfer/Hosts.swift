// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
import iDownState

/// The connections of all transfers to each host, and what was learned about hosts.
///
/// First connections wait here for a place, in the order of their coming, and come before all that
/// would join others.
final class Hosts: Sendable {
    private struct State {
        var limits = HostLimits()
        /// First connections that wait, the one that came first at the front.
        var waits: [String: [HostWait]] = [:]
        /// Whether something was learned that nobody has asked for yet.
        var hasNews = false

        mutating func forget(_ wait: HostWait, _ key: String) {
            waits[key]?.removeAll { $0 === wait }
            if waits[key]?.isEmpty == true { waits[key] = nil }
        }
    }

    private let state = Mutex(State())
    private let time: TimeAndChance
    private let start: TimeAndChance.Instant

    init(_ time: TimeAndChance) {
        self.time = time
        start = time.now
    }

    /// The reading of the clock that all of a transfer's times are taken from; it runs on while
    /// the machine sleeps.
    var now: Duration { time.now - start }

    /// Counts a first connection as open, once the host has room for it.
    ///
    /// - Parameters:
    ///   - host: where it goes.
    ///   - controls: end the wait when the transfer is to stop.
    /// - Returns: false where the transfer was stopped before.
    func enter(_ host: URLReference.Origin, _ controls: Controls) async -> Bool {
        let (key, now) = (host.key, now)
        let wait: HostWait? = state.withLock { state in
            guard state.limits.isFull(key) || state.waits[key] != nil else {
                state.limits.opened(key, at: now)
                return nil
            }
            let wait = HostWait { [self] in leave($0, key) }
            state.waits[key, default: []].append(wait)
            return wait
        }
        guard let wait else { return true }
        controls.watch(wait)
        defer { controls.release(wait) }
        return await wait.outcome()
    }

    /// A connection that joins others was opened.
    func opened(_ host: URLReference.Origin) {
        let now = now
        state.withLock { $0.limits.opened(host.key, at: now) }
    }

    /// A connection is gone; `wasServed` where the host had given it something, `wasRefused` where
    /// it was refused while it was open.
    func closed(_ host: URLReference.Origin, wasServed: Bool, wasRefused: Bool) {
        let (key, now) = (host.key, now)
        state.withLock { state in
            state.limits.closed(key, wasServed: wasServed, wasRefused: wasRefused, at: now)
            guard !state.limits.isFull(key), let next = state.waits[key]?.first else { return }
            state.forget(next, key)
            state.limits.opened(key, at: now)
            next.settle(true)
        }
    }

    /// Somebody waits no more.
    private func leave(_ wait: HostWait, _ key: String) { state.withLock { $0.forget(wait, key) } }

    /// Whether first connections wait for room.
    func isAwaited(_ host: URLReference.Origin) -> Bool {
        state.withLock { $0.waits[host.key] != nil }
    }

    /// How many more connections may join those that are open.
    func room(_ host: URLReference.Origin) -> Int {
        let (key, now) = (host.key, now)
        return state.withLock { $0.waits[key] == nil ? $0.limits.room(key, at: now) : 0 }
    }

    /// The number of connections to one file that was found to be of use; nil if none was.
    func useful(_ host: URLReference.Origin) -> UsefulConnections? {
        let now = now
        return state.withLock { $0.limits.useful(host.key, at: now) }
    }

    /// The host refused a connection that was to join others; `wasClosed` where that does not
    /// count as open any more.
    func refused(_ host: URLReference.Origin, wasClosed: Bool, retryAfter: Duration?) {
        let now = now
        state.withLock { state in
            state.limits.refused(
                host.key,
                wasClosed: wasClosed,
                retryAfter: retryAfter,
                at: now
            )
            state.hasNews = true
        }
    }

    func learned(_ host: URLReference.Origin, useful: UsefulConnections) {
        let now = now
        state.withLock { state in
            state.limits.learned(host.key, useful: useful, at: now)
            state.hasNews = true
        }
    }

    /// Whether the host is known to give one unchanged file several ETags.
    func hasSeveralTags(_ host: URLReference.Origin) -> Bool {
        let now = now
        return state.withLock { $0.limits.hasSeveralTags(host.key, at: now) }
    }

    /// The host was seen to give one unchanged file several ETags.
    func givesSeveralTags(_ host: URLReference.Origin) {
        let now = now
        state.withLock { state in
            state.limits.givesSeveralTags(host.key, at: now)
            state.hasNews = true
        }
    }

    // MARK: From one run of the service to the next

    /// All that is known, if something new is; nil otherwise.
    func takeNews() -> [HostKnowledge]? {
        let now = now
        return state.withLock { state in
            guard state.hasNews else { return nil }
            state.hasNews = false
            return state.limits.knowledge(at: now)
        }
    }

    func restore(_ knowledge: [HostKnowledge]) {
        let now = now
        state.withLock { $0.limits.restore(knowledge, at: now) }
    }
}

extension URLReference.Origin {
    fileprivate var key: String { "\(scheme)://\(host):\(port ?? 0)" }
}
