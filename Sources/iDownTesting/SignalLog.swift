// SPDX-License-Identifier: Apache-2.0

package import DBus
import Synchronization

/// All signals that match a rule, kept in the order of arrival, to look back at and to wait for.
///
/// A test takes ``count`` as a mark before it does something, and then waits for what comes after
/// the mark: nothing falls between.
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

    /// Receives from now on: the bus knows the rule when this returns.
    package init(_ rule: MatchRule, on connection: Connection) async throws(BusError) {
        let signals = try await connection.signals(rule)
        let state = Shared()
        self.state = state
        reader = Task {
            do {
                for try await signal in signals { state.add(signal) }
            } catch {
                // Its end says the same.
            }
            state.end()
        }
    }

    deinit { reader.cancel() }

    /// What has arrived so far.
    package var signals: [SignalMessage] { state.signals }

    /// How many have arrived: the mark of this moment.
    package var count: Int { state.signals.count }

    /// The first signal after a mark that matches, once it is there.
    ///
    /// - Parameters:
    ///   - mark: How many signals are passed over.
    ///   - what: Completes the sentence "timed out waiting for".
    ///   - limit: How long to wait.
    ///   - matches: Whether this is the one.
    /// - Returns: The signal.
    /// - Throws: ``TimedOut``, also where the connection ends before.
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
    /// What the reader's task and the test share.
    private final class Shared: Sendable {
        /// Nobody is resumed under the lock, which the end of a wait by cancellation takes as well.
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
