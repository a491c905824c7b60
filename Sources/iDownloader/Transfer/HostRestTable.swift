// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import iDownState

/// The hosts that are to be left alone, shared by all transfers and the queue.
package final class HostRestTable: Sendable {
    private struct State {
        var rests = HostRests()
        /// The hosts that the last attempts of tasks have found at rest: a redirect or a mirror may
        /// have led there.
        var met: [TaskID: Set<Origin>] = [:]
    }

    private let state = Mutex(State())

    private let time: TimeAndChance
    private let start: TimeAndChance.Instant

    package init(_ time: TimeAndChance = .system) {
        self.time = time
        start = time.now
    }

    /// Takes note of a host's wish.
    ///
    /// - Parameters:
    ///   - origin: who asks.
    ///   - wish: for how long.
    ///   - task: the one that was told so; nil after a restart, when that is not known.
    package func rest(_ origin: Origin, for wish: Duration, toldTo task: TaskID? = nil) {
        let now = self.now
        state.withLock { state in
            state.rests.rest(origin, for: wish, now: now)
            if let task { state.met[task, default: []].insert(origin) }
        }
    }

    /// The host is busy, and does not say for how long.
    func refused(by origin: Origin, toldTo task: TaskID) {
        let now = self.now
        state.withLock { state in
            state.rests.refused(by: origin, now: now)
            state.met[task, default: []].insert(origin)
        }
    }

    /// The host has given somebody what was asked for.
    func answered(by origin: Origin) { state.withLock { $0.rests.answered(by: origin) } }

    /// Takes up the wish that a task's last failure tells of, after a restart.
    package func restore(from record: TaskRecord, at now: WallTime) {
        guard case .waiting(.retry(let deadline)) = record.state,
            let wish = record.failure?.retryAfter, let origin = record.request.origin
        else { return }
        // The clock may have been set: never longer than the wish.
        rest(origin, for: min(deadline.since(now) - RetryPolicy.retryAfterSpread, wish))
    }

    /// How long the host is still to be left alone; nil where it is not.
    ///
    /// - Parameters:
    ///   - origin: the host.
    ///   - task: the one that wants to ask it.
    /// - Returns: how long.
    package func remaining(of origin: Origin, for task: TaskID) -> Duration? {
        let now = self.now
        return state.withLock { state in
            let rest = state.rests.remaining(of: origin, now: now)
            if rest != nil { state.met[task, default: []].insert(origin) }
            return rest
        }
    }

    /// All hosts that are to be left alone, and how long still.
    package var all: [Origin: Duration] {
        let now = self.now
        return state.withLock { $0.rests.all(now: now) }
    }

    /// How long until the first of them may be asked again; nil where none rests.
    package var next: Duration? {
        let now = self.now
        return state.withLock { $0.rests.next(now: now) }.map { $0 - now }
    }

    /// Somebody wants a try of a task all the same: no host keeps it from that.
    ///
    /// - Parameters:
    ///   - task: the task.
    ///   - origin: where its first request goes; nil where its URL is none.
    package func end(for task: TaskID, at origin: Origin?) {
        state.withLock { state in
            var origins = state.met.removeValue(forKey: task) ?? []
            if let origin { origins.insert(origin) }
            for origin in origins { state.rests.end(of: origin) }
        }
    }

    /// The task does not wait any more: what it has met is of no use.
    package func forget(_ task: TaskID) {
        state.withLock { _ = $0.met.removeValue(forKey: task) }
    }

    /// A clock that runs on while the machine sleeps.
    private var now: Duration { time.now - start }
}
