// SPDX-License-Identifier: Apache-2.0

import Synchronization
import iDownState

/// The connections of all transfers to each host, and what was learned about hosts.
///
/// First connections wait here for a place, in the order of their coming, and come before all that
/// would join others.
final class Hosts: Sendable {
    /// A first connection that waits.
    private struct Wait {
        /// Those of its transfer, which waits for one place at a time.
        let controls: Controls
        /// Gets false where the transfer is to stop.
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var limits = HostLimits()
        /// First connections that wait, the one that came first at the front.
        var waits: [String: [Wait]] = [:]
        /// Whether something was learned that nobody has asked for yet.
        var hasNews = false
        /// The hosts that may be named outside of this process: a private download tells of none.
        var open: Set<String> = []

        /// Takes the wait out of its queue that `isMeant`; nil where it is not there any more.
        mutating func take(_ key: String, where isMeant: (Wait) -> Bool) -> Wait? {
            guard let index = waits[key]?.firstIndex(where: isMeant) else { return nil }
            let wait = waits[key]?.remove(at: index)
            if waits[key]?.isEmpty == true { waits[key] = nil }
            return wait
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
    func enter(_ host: Origin, _ controls: Controls) async -> Bool {
        let (key, now) = (host.text, now)
        controls.watch(self) { [self] in
            let wait = state.withLock { $0.take(key) { $0.controls === controls } }
            wait?.continuation.resume(returning: false)
        }
        defer { controls.release(self) }
        return await withCheckedContinuation { continuation in
            let answer: Bool? = state.withLock { state in
                if !state.limits.isFull(key), state.waits[key] == nil {
                    state.limits.opened(key, at: now)
                    return true
                }
                // Whoever stops the transfer after this look finds the wait.
                if controls.isStopped { return false }
                let wait = Wait(controls: controls, continuation: continuation)
                state.waits[key, default: []].append(wait)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// A connection that joins others was opened.
    func opened(_ host: Origin) { limits { $0.opened(host.text, at: $1) } }

    /// A connection is gone; `wasServed` where the host had given it something, `wasRefused` where
    /// it was refused while it was open.
    func closed(_ host: Origin, wasServed: Bool, wasRefused: Bool) {
        let (key, now) = (host.text, now)
        let next: Wait? = state.withLock { state in
            state.limits.closed(key, wasServed: wasServed, wasRefused: wasRefused, at: now)
            guard !state.limits.isFull(key), let next = state.take(key, where: { _ in true })
            else { return nil }
            state.limits.opened(key, at: now)
            return next
        }
        next?.continuation.resume(returning: true)
    }

    /// Whether first connections wait for room.
    func isAwaited(_ host: Origin) -> Bool {
        state.withLock { $0.waits[host.text] != nil }
    }

    /// How many more connections may join those that are open.
    func room(_ host: Origin) -> Int {
        let (key, now) = (host.text, now)
        return state.withLock { $0.waits[key] == nil ? $0.limits.room(key, at: now) : 0 }
    }

    /// Whether as many are open as the host was seen to allow.
    func isAtLimit(_ host: Origin) -> Bool { limits { $0.isAtLimit(host.text, at: $1) } }

    /// The number of connections to one file that was found to be of use; nil if none was.
    func useful(_ host: Origin) -> UsefulConnections? {
        limits { $0.useful(host.text, at: $1) }
    }

    /// The host refused a connection that was to join others; `wasClosed` where that does not
    /// count as open any more.
    func refused(_ host: Origin, wasClosed: Bool, retryAfter: Duration?, by request: TaskRequest) {
        limits(learning: request.isPrivate ? nil : host) {
            $0.refused(host.text, wasClosed: wasClosed, retryAfter: retryAfter, at: $1)
        }
    }

    func learned(_ host: Origin, useful: UsefulConnections, by request: TaskRequest) {
        limits(learning: request.isPrivate ? nil : host) {
            $0.learned(host.text, useful: useful, at: $1)
        }
    }

    /// Whether the host is known to give one unchanged file several ETags.
    func hasSeveralTags(_ host: Origin) -> Bool {
        limits { $0.hasSeveralTags(host.text, at: $1) }
    }

    /// The host was seen to give one unchanged file several ETags.
    func givesSeveralTags(_ host: Origin, by request: TaskRequest) {
        limits(learning: request.isPrivate ? nil : host) {
            $0.givesSeveralTags(host.text, at: $1)
        }
    }

    /// Looks at what is known of hosts, or changes it; `host` where something is learned that is kept
    /// for the next run of the service.
    private func limits<Value>(
        learning host: Origin? = nil,
        _ body: (inout HostLimits, Duration) -> sending Value
    ) -> sending Value {
        let now = now
        return state.withLock { state in
            if let host {
                state.hasNews = true
                state.open.insert(host.text)
            }
            return body(&state.limits, now)
        }
    }

    // MARK: From one run of the service to the next

    /// All that is known, if something new is; nil otherwise.
    func takeNews() -> [HostKnowledge]? {
        let now = now
        return state.withLock { state in
            guard state.hasNews else { return nil }
            state.hasNews = false
            let all = state.limits.knowledge(at: now)
            state.open.formIntersection(all.map(\.host))
            return all.filter { state.open.contains($0.host) }
        }
    }

    func restore(_ knowledge: [HostKnowledge]) {
        let now = now
        state.withLock { state in
            state.limits.restore(knowledge, at: now)
            state.open.formUnion(knowledge.map(\.host))
        }
    }
}
