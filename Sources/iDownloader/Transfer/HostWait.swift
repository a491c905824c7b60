// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One first connection that waits until its host has room for it.
final class HostWait: Brakable {
    private enum State {
        case pending
        case awaited(CheckedContinuation<Bool, Never>)
        case settled(Bool)
    }

    private let state = Mutex(State.pending)
    private let onCancel: @Sendable (HostWait) -> Void

    /// - Parameter onCancel: takes it out of the queue; comes before the waiting ends.
    init(onCancel: @escaping @Sendable (HostWait) -> Void) { self.onCancel = onCancel }

    /// Returns once it is settled; to be called once.
    func outcome() async -> Bool {
        await withCheckedContinuation { continuation in
            let outcome: Bool? = state.withLock { state in
                if case .settled(let outcome) = state { return outcome }
                state = .awaited(continuation)
                return nil
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    /// Says how it ended; whoever says so first is believed.
    func settle(_ outcome: Bool) {
        let waiter: CheckedContinuation<Bool, Never>? = state.withLock { state in
            defer { if case .settled = state {} else { state = .settled(outcome) } }
            if case .awaited(let continuation) = state { return continuation }
            return nil
        }
        waiter?.resume(returning: outcome)
    }

    func cancel() {
        onCancel(self)
        settle(false)
    }
}
