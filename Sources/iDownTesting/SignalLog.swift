// SPDX-License-Identifier: Apache-2.0

package import DBus
import Synchronization

/// All signals that match a rule, in the order of arrival; a test can look back and wait for more.
///
/// A test notes ``count`` as a mark before an action, then waits for signals after the mark, so
/// that it misses none.
package final class SignalLog: Sendable {
    private struct Waiter {
        let id: Int
        let matches: @Sendable (SignalMessage) -> Bool
        let continuation: CheckedContinuation<SignalMessage?, Never>
    }

    private struct State {
        var signals: [SignalMessage] = []
        var waiters: [Waiter] = []
        var nextWaiter = 0
        var hasEnded = false
    }

    private let state: Shared
    private let reader: Task<Void, Never>

    /// Starts to record; the bus has the rule when this returns.
    package init(_ rule: MatchRule, on connection: Connection) async throws(BusError) {
        let signals = try await connection.signals(rule)
        let state = Shared()
        self.state = state
        reader = Task {
            do {
                for try await signal in signals { state.add(signal) }
            } catch {
                // The end of the stream tells the same.
            }
            state.end()
        }
    }

    deinit { reader.cancel() }

    /// The signals that have arrived so far.
    package var signals: [SignalMessage] { state.signals }

    /// The number of signals so far, to be used as a mark.
    package var count: Int { state.signals.count }

    /// Waits for the first signal after a mark that matches, and returns it.
    ///
    /// - Parameters:
    ///   - mark: The number of signals to skip.
    ///   - what: Completes the sentence "timed out waiting for".
    ///   - limit: How long to wait.
    ///   - matches: Returns whether a signal is the one to wait for.
    /// - Returns: The signal.
    /// - Throws: ``TimedOut``, also if the connection ends before.
    @discardableResult
    package func first(
        after mark: Int = 0,
        _ what: String,
        limit: Duration = .seconds(60),
        where matches: @escaping @Sendable (SignalMessage) -> Bool
    ) async throws -> SignalMessage {
        let state = state
        let signal = try await within(what, limit: limit) { await state.first(from: mark, matches) }
        guard let signal else {
            throw TimedOut(description: "the connection ended while waiting for \(what)")
        }
        return signal
    }
}

extension SignalLog {
    /// The state that the reading task and the test share.
    private final class Shared: Sendable {
        /// Continuations are resumed outside the lock, because the cancellation of a wait takes it
        /// too.
        private let state = Mutex(State())

        var signals: [SignalMessage] { state.withLock(\.signals) }

        func add(_ signal: SignalMessage) {
            let waiters = state.withLock { state in
                state.signals.append(signal)
                let waiters = state.waiters.filter { $0.matches(signal) }
                state.waiters.removeAll { $0.matches(signal) }
                return waiters
            }
            for waiter in waiters { waiter.continuation.resume(returning: signal) }
        }

        func end() {
            let waiters = state.withLock { state in
                state.hasEnded = true
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.continuation.resume(returning: nil) }
        }

        func first(
            from mark: Int,
            _ matches: @escaping @Sendable (SignalMessage) -> Bool
        ) async -> SignalMessage? {
            let id = state.withLock { state in
                state.nextWaiter += 1
                return state.nextWaiter
            }
            return await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let waiter = Waiter(id: id, matches: matches, continuation: continuation)
                    let known = state.withLock { state -> SignalMessage?? in
                        if let signal = state.signals.dropFirst(mark).first(where: matches) {
                            return signal
                        }
                        if state.hasEnded || Task.isCancelled { return .some(nil) }
                        state.waiters.append(waiter)
                        return nil
                    }
                    if let known { continuation.resume(returning: known) }
                }
            } onCancel: {
                let waiter = state.withLock { state -> Waiter? in
                    guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
                        return nil
                    }
                    return state.waiters.remove(at: index)
                }
                waiter?.continuation.resume(returning: nil)
            }
        }
    }
}
