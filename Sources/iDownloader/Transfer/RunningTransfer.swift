// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
package import iDownState

/// A transfer under way, as its owner sees it.
package final class RunningTransfer: Sendable {
    package let attempt: AttemptNumber
    package let startedAt: TimeAndChance.Instant
    /// Read at any time, without waiting.
    package let live: LiveProgress

    private let controls: Controls
    private let work: Task<Void, Never>

    init(
        attempt: AttemptNumber,
        startedAt: TimeAndChance.Instant,
        live: LiveProgress,
        controls: Controls,
        work: Task<Void, Never>
    ) {
        self.attempt = attempt
        self.startedAt = startedAt
        self.live = live
        self.controls = controls
        self.work = work
    }

    /// Asks it to end: what is on disk is synced and recorded, and the connection is closed.
    package func stop() { controls.stop() }

    /// Another number of connections, at most so many at once; nil takes the engine's.
    package func limitConnections(to number: Int?) { controls.connections = number }

    /// Returns once it holds neither a connection nor the file any more.
    package func ended() async { await work.value }
}

/// What the owner of a transfer wants of it while it runs.
final class Controls: Sendable {
    private struct State {
        var isStopped = false
        var watched: [(work: any AnyObject & Sendable, cancel: @Sendable () -> Void)] = []
        var connections: Int?
    }

    private let state: Mutex<State>

    init(connections: Int?) { state = Mutex(State(connections: connections)) }

    /// The most connections at once that somebody has chosen for the task; nil takes the engine's
    /// number.
    var connections: Int? {
        get { state.withLock(\.connections) }
        set { state.withLock { $0.connections = newValue } }
    }

    /// Whether the transfer is to end.
    var isStopped: Bool { state.withLock(\.isStopped) }

    /// Ends the transfer, whatever it waits for at this moment.
    func stop() {
        let watched = state.withLock { state in
            state.isStopped = true
            return state.watched
        }
        for work in watched { work.cancel() }
    }

    /// From now on ``stop()`` ends this as well; what comes too late ends at once.
    func watch(_ work: any AnyObject & Sendable, _ cancel: @escaping @Sendable () -> Void) {
        let isStopped = state.withLock { state in
            state.watched.append((work, cancel))
            return state.isStopped
        }
        if isStopped { cancel() }
    }

    /// It is over.
    func release(_ work: any AnyObject & Sendable) {
        state.withLock { state in state.watched.removeAll { $0.work === work } }
    }
}
