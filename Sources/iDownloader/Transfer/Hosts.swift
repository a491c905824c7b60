// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import iDownState

/// Counts the connections of all transfers to each host, keeps findings about hosts, and knows
/// which hosts no task may ask for a while; all transfers and the queue share it.
///
/// Lead connections wait here in order until the host has room, and go before connections that
/// would join others.
package final class Hosts: Sendable {
    /// A lead connection that waits.
    private struct Wait {
        /// The controls of its transfer, which waits for one connection at a time.
        let controls: Controls
        let host: Origin
        /// Resumes with true once there is room, and with false if the transfer is stopped.
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var limits = HostLimits()
        var rests = HostRests()
        /// The hosts whose rest the last attempt of each task met, also after a redirect or at a
        /// mirror.
        var met: [TaskID: Set<Origin>] = [:]
        /// Lead connections that wait for each host, the oldest first.
        var waits: [String: [Wait]] = [:]
        /// Whether there is a finding that ``takeNews()`` has not returned yet.
        var hasNews = false
        /// The hosts that may be written to disk; a private download adds none.
        var open: Set<String> = []

        /// Takes the first wait for which `isMeant` is true out of its queue; nil if there is none.
        mutating func take(_ key: String, where isMeant: (Wait) -> Bool) -> Wait? {
            guard let index = waits[key]?.firstIndex(where: isMeant) else { return nil }
            let wait = waits[key]?.remove(at: index)
            if waits[key]?.isEmpty == true { waits[key] = nil }
            return wait
        }

        /// Counts a connection of a transfer as open.
        mutating func opened(_ key: String, of controls: Controls, at now: Duration) {
            let isUncounted = controls.places.withLock { places in
                places.open[key, default: 0] += 1
                return places.areUncounted
            }
            limits.opened(key, isUncounted: isUncounted, at: now)
        }

        /// Takes the waits for which the host has room out of their queue, and counts their
        /// connections as open.
        mutating func admit(to key: String, at now: Duration) -> [Wait] {
            var admitted: [Wait] = []
            while !limits.isFull(key), let wait = take(key, where: { _ in true }) {
                opened(key, of: wait.controls, at: now)
                admitted.append(wait)
            }
            return admitted
        }
    }

    private let state = Mutex(State())
    private let time: TimeAndChance
    private let start: TimeAndChance.Instant

    init(_ time: TimeAndChance) {
        self.time = time
        start = time.now
    }

    /// The present time by the clock of all transfers, which runs on while the computer sleeps.
    var now: Duration { time.now - start }

    /// Reads or changes the state at the present time.
    private func with<Value>(_ body: (inout State, Duration) -> sending Value) -> sending Value {
        let now = now
        return state.withLock { body(&$0, now) }
    }

    /// Waits until the host has room for a lead connection, and counts it as open.
    ///
    /// - Parameters:
    ///   - host: the host to connect to.
    ///   - controls: the transfer's controls, which end the wait when it is stopped.
    /// - Returns: false if the transfer was stopped before.
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
                    state.opened(key, of: controls, at: now)
                    return true
                }
                // A stop after this check finds the wait and ends it.
                if controls.isStopped { return false }
                let wait = Wait(controls: controls, host: host, continuation: continuation)
                state.waits[key, default: []].append(wait)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Counts a connection that joins others as open.
    func opened(_ host: Origin, of controls: Controls) {
        with { $0.opened(host.text, of: controls, at: $1) }
    }

    /// Counts a connection as closed; `wasServed` if the host had sent it bytes, `wasRefused` if
    /// the host had refused it.
    func closed(_ host: Origin, of controls: Controls, wasServed: Bool, wasRefused: Bool) {
        let (key, now) = (host.text, now)
        let next: [Wait] = state.withLock { state in
            let wasUncounted = controls.places.withLock { places in
                places.open[key, default: 1] -= 1
                if places.open[key] == 0 { places.open[key] = nil }
                return places.areUncounted
            }
            state.limits.closed(
                key,
                wasServed: wasServed,
                wasRefused: wasRefused,
                wasUncounted: wasUncounted,
                at: now
            )
            return state.admit(to: key, at: now)
        }
        for wait in next { wait.continuation.resume(returning: true) }
    }

    /// Frees the places of a transfer's connections while its disk does not answer, and takes them
    /// again, even where more than allowed are open then, once it does.
    ///
    /// The transfer cannot close its connections before, not even if it was stopped.
    func noteDisk(of controls: Controls, isStuck: Bool) {
        let now = now
        let next: [Wait] = state.withLock { state in
            let open: [String: Int] = controls.places.withLock { places in
                guard places.areUncounted != isStuck else { return [:] }
                places.areUncounted = isStuck
                return places.open
            }
            var next: [Wait] = []
            for (key, number) in open {
                state.limits.uncount(key, isStuck ? number : -number)
                next += state.admit(to: key, at: now)
            }
            return next
        }
        for wait in next { wait.continuation.resume(returning: true) }
    }

    /// Returns whether lead connections wait for this host.
    func isAwaited(_ host: Origin) -> Bool { state.withLock { $0.waits[host.text] != nil } }

    /// Returns the host that has no room for a transfer's lead connection; nil if there is none.
    func fullHost(of controls: Controls) -> Origin? {
        state.withLock { $0.waits.values.joined().first { $0.controls === controls }?.host }
    }

    /// Returns how many more connections may join those that are open.
    func room(_ host: Origin) -> Int {
        with { $0.waits[host.text] == nil ? $0.limits.room(host.text, at: $1) : 0 }
    }

    /// Returns how far the open connections use up what the host allows.
    func load(_ host: Origin) -> HostLimits.Load { limits { $0.load(host.text, at: $1) } }

    /// Returns the number of connections per file that was found useful; nil if it is unknown.
    func useful(_ host: Origin) -> UsefulConnections? { limits { $0.useful(host.text, at: $1) } }

    /// Notes that the host refused a joining connection; `wasClosed` if that connection is closed
    /// already.
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

    /// Returns whether the host is known to give one unchanged file several ETags.
    func hasSeveralTags(_ host: Origin) -> Bool { limits { $0.hasSeveralTags(host.text, at: $1) } }

    /// Notes that the host gives one unchanged file several ETags.
    func givesSeveralTags(_ host: Origin, by request: TaskRequest) {
        limits(learning: request.isPrivate ? nil : host) { $0.givesSeveralTags(host.text, at: $1) }
    }

    /// Reads or changes the findings about hosts; `host` names one whose new finding is kept for
    /// the next run of the service.
    private func limits<Value>(
        learning host: Origin? = nil,
        _ body: (inout HostLimits, Duration) -> sending Value
    ) -> sending Value {
        with { state, now in
            if let host {
                state.hasNews = true
                state.open.insert(host.text)
            }
            return body(&state.limits, now)
        }
    }

    // MARK: From one run of the service to the next

    /// Returns all findings, or nil if there is no new one since the last call.
    package func takeNews() -> [HostKnowledge]? {
        with { state, now in
            guard state.hasNews else { return nil }
            state.hasNews = false
            let all = state.limits.knowledge(at: now)
            state.open.formIntersection(all.map(\.host))
            return all.filter { state.open.contains($0.host) }
        }
    }

    /// Restores findings from an earlier run of the service.
    package func restore(_ knowledge: [HostKnowledge]) {
        with { state, now in
            state.limits.restore(knowledge, at: now)
            state.open.formUnion(knowledge.map(\.host))
        }
    }

    // MARK: Hosts to leave alone

    /// Notes a host's Retry-After.
    ///
    /// - Parameters:
    ///   - origin: the host.
    ///   - wish: the duration that it asked for.
    ///   - task: the task that got the answer; nil after a restart.
    package func rest(_ origin: Origin, for wish: Duration, toldTo task: TaskID? = nil) {
        with { state, now in
            state.rests.rest(origin, for: wish, now: now)
            if let task { state.met[task, default: []].insert(origin) }
        }
    }

    /// Notes that a host is busy and names no time.
    func isBusy(_ origin: Origin, toldTo task: TaskID) {
        with { state, now in
            state.rests.refused(by: origin, now: now)
            state.met[task, default: []].insert(origin)
        }
    }

    /// Notes that the host has answered a request for a file.
    func answered(by origin: Origin) { state.withLock { $0.rests.answered(by: origin) } }

    /// Restores the Retry-After of a task's last failure after a restart.
    package func restoreRest(from record: TaskRecord, at now: WallTime) {
        guard case .waiting(.retry(let deadline)) = record.state,
            let failure = record.failure, !failure.restsFileAlone, let wish = failure.retryAfter,
            let origin = record.request.origin
        else { return }
        // The clock may have been set, so that the rest is at most the wish.
        rest(origin, for: min(deadline.since(now) - RetryPolicy.retryAfterSpread, wish))
    }

    /// Returns how long the host still rests; nil if it does not.
    ///
    /// - Parameters:
    ///   - origin: the host.
    ///   - task: the task that wants to ask the host.
    /// - Returns: the time left.
    func rest(of origin: Origin, for task: TaskID) -> Duration? {
        with { state, now in
            let rest = state.rests.remaining(of: origin, now: now)
            if rest != nil { state.met[task, default: []].insert(origin) }
            return rest
        }
    }

    /// All hosts that rest, with the time left.
    package var rests: [Origin: Duration] { with { $0.rests.all(now: $1) } }

    /// The time until the first host may be asked again; nil if none rests.
    package var nextRest: Duration? {
        with { state, now in state.rests.next(now: now).map { $0 - now } }
    }

    /// Ends the rests that keep a task waiting, because the user wants a try now.
    ///
    /// - Parameters:
    ///   - task: the task.
    ///   - origin: the host of its URL; nil if the URL is invalid.
    package func endRests(for task: TaskID, at origin: Origin?) {
        state.withLock { state in
            var origins = state.met.removeValue(forKey: task) ?? []
            if let origin { origins.insert(origin) }
            for origin in origins { state.rests.end(of: origin) }
        }
    }

    /// Forgets the rests that a task has met; it does not wait any more.
    package func forgetRests(of task: TaskID) {
        state.withLock { _ = $0.met.removeValue(forKey: task) }
    }
}
