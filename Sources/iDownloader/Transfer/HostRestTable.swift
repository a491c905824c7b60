// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import iDownState

/// The hosts that no task may ask for a while; all transfers and the queue share it.
package final class HostRestTable: Sendable {
    private struct State {
        var rests = HostRests()
        /// The hosts whose rest the last attempt of each task met, also after a redirect or at a
        /// mirror.
        var met: [TaskID: Set<Origin>] = [:]
    }

    private let state = Mutex(State())

    private let time: TimeAndChance
    private let start: TimeAndChance.Instant

    package init(_ time: TimeAndChance = .system) {
        self.time = time
        start = time.now
    }

    /// Notes a host's Retry-After.
    ///
    /// - Parameters:
    ///   - origin: the host.
    ///   - wish: the duration that it asked for.
    ///   - task: the task that got the answer; nil after a restart.
    package func rest(_ origin: Origin, for wish: Duration, toldTo task: TaskID? = nil) {
        withRests { state, now in
            state.rests.rest(origin, for: wish, now: now)
            if let task { state.met[task, default: []].insert(origin) }
        }
    }

    /// Notes that a host is busy and names no time.
    func refused(by origin: Origin, toldTo task: TaskID) {
        withRests { state, now in
            state.rests.refused(by: origin, now: now)
            state.met[task, default: []].insert(origin)
        }
    }

    /// Notes that the host has answered a request for a file.
    func answered(by origin: Origin) { state.withLock { $0.rests.answered(by: origin) } }

    /// Restores the Retry-After of a task's last failure after a restart.
    package func restore(from record: TaskRecord, at now: WallTime) {
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
    package func remaining(of origin: Origin, for task: TaskID) -> Duration? {
        withRests { state, now in
            let rest = state.rests.remaining(of: origin, now: now)
            if rest != nil { state.met[task, default: []].insert(origin) }
            return rest
        }
    }

    /// All hosts that rest, with the time left.
    package var all: [Origin: Duration] { withRests { $0.rests.all(now: $1) } }

    /// The time until the first host may be asked again; nil if none rests.
    package var next: Duration? {
        withRests { state, now in state.rests.next(now: now).map { $0 - now } }
    }

    /// Ends the rests that keep a task waiting, because the user wants a try now.
    ///
    /// - Parameters:
    ///   - task: the task.
    ///   - origin: the host of its URL; nil if the URL is invalid.
    package func end(for task: TaskID, at origin: Origin?) {
        state.withLock { state in
            var origins = state.met.removeValue(forKey: task) ?? []
            if let origin { origins.insert(origin) }
            for origin in origins { state.rests.end(of: origin) }
        }
    }

    /// Forgets the rests that a task has met; it does not wait any more.
    package func forget(_ task: TaskID) { state.withLock { _ = $0.met.removeValue(forKey: task) } }

    /// Reads or changes the rests at the present time, by a clock that runs on during sleep.
    private func withRests<Value>(
        _ body: (inout State, Duration) -> sending Value
    ) -> sending Value {
        let now = time.now - start
        return state.withLock { body(&$0, now) }
    }
}
