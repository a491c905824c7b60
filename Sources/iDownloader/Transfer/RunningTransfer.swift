// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
package import iDownState

/// A running transfer, for its owner.
package struct RunningTransfer: Sendable {
    package let attempt: AttemptNumber
    package let startedAt: TimeAndChance.Instant
    /// The folder of its file.
    package let directory: String
    /// The present progress; any thread reads it without waiting.
    package let live: LiveProgress

    let controls: Controls
    let hosts: Hosts
    let work: Task<Void, Never>

    /// Stops the transfer: stored bytes are synced and recorded, and the connections are closed.
    package func stop() { controls.stop() }

    /// Sets the most connections at once; nil uses the engine's number.
    package func limitConnections(to number: Int?) { controls.connections = number }

    /// Notes whether the disk of its file does not answer: its connections take no places at their
    /// hosts meanwhile.
    package func noteDisk(isStuck: Bool) { hosts.noteDisk(of: controls, isStuck: isStuck) }

    /// The host at which it waits for its first connection, because other tasks have all; nil if it
    /// does not wait for one.
    package var fullHost: Origin? { hosts.fullHost(of: controls) }

    /// Returns once the transfer has closed its connections and its file.
    package func ended() async { await work.value }
}

/// The connections of a transfer that ``Hosts`` counts.
struct HostPlaces: Sendable {
    /// How many are open to each host.
    var open: [String: Int] = [:]
    /// Whether they take no places, because the disk does not answer.
    var areUncounted = false
}

/// The orders of a transfer's owner while it runs.
final class Controls: Sendable {
    private struct State {
        var isStopped = false
        var watched: [(work: any AnyObject & Sendable, cancel: @Sendable () -> Void)] = []
        var connections: Int?
    }

    private let state: Mutex<State>
    /// Only ``Hosts`` uses it, within its own lock.
    let places = Mutex(HostPlaces())

    init(connections: Int?) { state = Mutex(State(connections: connections)) }

    /// The most connections at once that were chosen for the task; nil uses the engine's number.
    var connections: Int? {
        get { state.withLock(\.connections) }
        set { state.withLock { $0.connections = newValue } }
    }

    /// Whether the transfer was stopped.
    var isStopped: Bool { state.withLock(\.isStopped) }

    /// Stops the transfer, whatever it waits for.
    func stop() {
        let watched = state.withLock { state in
            state.isStopped = true
            return state.watched
        }
        for work in watched { work.cancel() }
    }

    /// Lets ``stop()`` cancel this work as well; cancels it at once if the transfer was stopped
    /// before.
    func watch(_ work: any AnyObject & Sendable, _ cancel: @escaping @Sendable () -> Void) {
        let isStopped = state.withLock { state in
            state.watched.append((work, cancel))
            return state.isStopped
        }
        if isStopped { cancel() }
    }

    /// Forgets work that is over.
    func release(_ work: any AnyObject & Sendable) {
        state.withLock { state in state.watched.removeAll { $0.work === work } }
    }
}
