// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What the starter of a transfer holds: its end, and the means to hasten it.
///
/// Dropping the handle changes nothing: the transfer runs to its end.
public final class TransferHandle: Sendable {
    private struct State {
        var outcome: TransferOutcome?
        var waiters: [@Sendable (TransferOutcome) -> Void] = []
    }

    private let driver: any TransferDriver
    private let state = Mutex(State())

    package init(driver: any TransferDriver) { self.driver = driver }

    /// Lets a paused transfer read on; does nothing to one that is not paused.
    ///
    /// From any thread, also from within the sink.
    public func resume() { driver.resume(self) }

    /// Ends the transfer with ``CurlCode/aborted`` unless it has ended already.
    ///
    /// From any thread, also from within the sink. The sink may still be called until the outcome
    /// is there.
    public func cancel() { driver.cancel(self) }

    /// How the transfer ended, once it has; after that no call of the sink comes.
    ///
    /// Cancelling the task that waits here cancels the transfer.
    public func outcome() async -> TransferOutcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                whenEnded { continuation.resume(returning: $0) }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Calls `tell` with the outcome, once: from the pool's thread, or at once where it is known.
    public func whenEnded(_ tell: @escaping @Sendable (TransferOutcome) -> Void) {
        let known = state.withLock { state in
            if state.outcome == nil { state.waiters.append(tell) }
            return state.outcome
        }
        if let known { tell(known) }
    }

    /// Tells the outcome to all who wait; only the first call counts.
    package func settle(_ outcome: TransferOutcome) {
        let waiters = state.withLock { state in
            // Nobody waits any more where there is an outcome.
            if state.outcome == nil { state.outcome = outcome }
            defer { state.waiters = [] }
            return state.waiters
        }
        for tell in waiters { tell(outcome) }
    }
}
