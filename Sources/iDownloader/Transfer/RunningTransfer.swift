// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
package import iDownState

/// A transfer under way, as its owner sees it.
package final class RunningTransfer: Sendable {
    package let attempt: AttemptNumber
    /// Read at any time, without waiting.
    package let live: LiveProgress

    private let brake: Brake
    private let work: Task<Void, Never>

    init(attempt: AttemptNumber, live: LiveProgress, brake: Brake, work: Task<Void, Never>) {
        self.attempt = attempt
        self.live = live
        self.brake = brake
        self.work = work
    }

    /// Asks it to end: what is on disk is synced and recorded, and the connection is closed.
    package func stop() { brake.pull() }

    /// Returns once it holds neither a connection nor the file any more.
    package func ended() async { await work.value }
}

/// Ends a transfer from outside, whatever it waits for at that moment.
final class Brake: Sendable {
    private struct State {
        var isPulled = false
        var handles: [TransferHandle] = []
    }

    private let state = Mutex(State())

    var isPulled: Bool { state.withLock { $0.isPulled } }

    func pull() {
        let handles = state.withLock { state in
            state.isPulled = true
            return state.handles
        }
        for handle in handles { handle.cancel() }
    }

    /// From now on pulling ends this request as well; one that comes too late ends at once.
    func watch(_ handle: TransferHandle) {
        let isPulled = state.withLock { state in
            state.handles.append(handle)
            return state.isPulled
        }
        if isPulled { handle.cancel() }
    }

    /// The request is over.
    func release(_ handle: TransferHandle) {
        state.withLock { state in state.handles.removeAll { $0 === handle } }
    }
}
