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

    private let brake: Brake
    private let connections: ConnectionChoice
    private let work: Task<Void, Never>

    init(
        attempt: AttemptNumber,
        startedAt: TimeAndChance.Instant,
        live: LiveProgress,
        brake: Brake,
        connections: ConnectionChoice,
        work: Task<Void, Never>
    ) {
        self.attempt = attempt
        self.startedAt = startedAt
        self.live = live
        self.brake = brake
        self.connections = connections
        self.work = work
    }

    /// Asks it to end: what is on disk is synced and recorded, and the connection is closed.
    package func stop() { brake.pull() }

    /// Another number of connections, at most so many at once; nil takes the engine's.
    package func limitConnections(to number: Int?) { connections.number = number }

    /// Returns once it holds neither a connection nor the file any more.
    package func ended() async { await work.value }
}

/// What a transfer waits for and can be told to end.
protocol Brakable: AnyObject, Sendable {
    func cancel()
}

extension TransferHandle: Brakable {}

/// Ends a transfer from outside, whatever it waits for at that moment.
final class Brake: Sendable {
    private struct State {
        var isPulled = false
        var watched: [any Brakable] = []
    }

    private let state = Mutex(State())

    var isPulled: Bool { state.withLock { $0.isPulled } }

    func pull() {
        let watched = state.withLock { state in
            state.isPulled = true
            return state.watched
        }
        for work in watched { work.cancel() }
    }

    /// From now on pulling ends this as well; what comes too late ends at once.
    func watch(_ work: any Brakable) {
        let isPulled = state.withLock { state in
            state.watched.append(work)
            return state.isPulled
        }
        if isPulled { work.cancel() }
    }

    /// It is over.
    func release(_ work: any Brakable) {
        state.withLock { state in state.watched.removeAll { $0 === work } }
    }
}
