// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A running transfer, for the caller who started it: waits for its end, resumes it or cancels it.
///
/// Dropping the handle has no effect: the transfer runs to its end.
public final class TransferHandle: Sendable {
    private struct State {
        var outcome: TransferOutcome?
        var waiters: [@Sendable (TransferOutcome) -> Void] = []
    }

    private let driver: any TransferDriver
    private let state = Mutex(State())

    package init(driver: any TransferDriver) { self.driver = driver }

    /// Lets a paused transfer continue reading; does nothing to one that is not paused.
    ///
    /// Callable from any thread, even from within the sink.
    public func resume() { driver.resume(self) }

    /// Ends the transfer with ``CurlCode/aborted`` unless it has ended already.
    ///
    /// Callable from any thread, even from within the sink. The sink may still be called until the
    /// outcome is known.
    public func cancel() { driver.cancel(self) }

    /// Returns how the transfer ended, once it has; the sink is not called after that.
    ///
    /// Cancelling the Swift task that waits here cancels the transfer.
    public func outcome() async -> TransferOutcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                whenEnded { continuation.resume(returning: $0) }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Calls `tell` once with the outcome: immediately if it is known, else from the pool's thread.
    public func whenEnded(_ tell: @escaping @Sendable (TransferOutcome) -> Void) {
        let known = state.withLock { state in
            if state.outcome == nil { state.waiters.append(tell) }
            return state.outcome
        }
        if let known { tell(known) }
    }

    /// Gives the outcome to all who wait; only the first call counts.
    package func settle(_ outcome: TransferOutcome) {
        let waiters = state.withLock { state in
            // Later calls find no waiters.
            if state.outcome == nil { state.outcome = outcome }
            defer { state.waiters = [] }
            return state.waiters
        }
        for tell in waiters { tell(outcome) }
    }
}
