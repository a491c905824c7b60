// SPDX-License-Identifier: Apache-2.0

private import Synchronization

/// The signals that match a rule, in the order of arrival.
///
/// Nothing is lost: what arrives waits here, up to ``maximumWaiting`` signals; one more ends the
/// sequence with `LimitsExceeded`. The sequence ends when the connection does. The rule is taken
/// back from the bus once the last copy of the sequence and its iterators is gone.
///
/// One task iterates; of several each signal goes to one of them.
public struct SignalSequence: AsyncSequence, Sendable {
    /// How many signals may wait to be taken.
    public static let maximumWaiting = 65_536

    private let subscriber: SignalSubscriber

    init(_ subscriber: SignalSubscriber) {
        self.subscriber = subscriber
    }

    /// Takes the signals one by one.
    public func makeAsyncIterator() -> Iterator {
        Iterator(subscriber: subscriber)
    }

    /// Takes the signals one by one.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let subscriber: SignalSubscriber

        /// The next signal; nil at the end, and when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(BusError) -> Signal? {
            try await subscriber.queue.next(isolation: actor)
        }

        /// The next signal; nil at the end, and when the task is cancelled.
        public mutating func next() async throws(BusError) -> Signal? {
            try await next(isolation: nil)
        }
    }
}

/// The interest in a sequence: its end takes the match rule back.
final class SignalSubscriber: Sendable {
    let queue: SignalQueue
    private let onEnd: @Sendable () -> Void

    init(queue: SignalQueue, onEnd: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.onEnd = onEnd
    }

    deinit {
        onEnd()
    }
}

/// Signals between the connection, which puts, and one task, which takes.
///
/// The task is resumed after the lock is given back: where it is being cancelled at that moment the
/// runtime holds the task, and waits for the lock (see `withTaskCancellationHandler`).
final class SignalQueue: Sendable {
    private typealias Taker = CheckedContinuation<Signal?, Never>

    private struct State {
        var waiting: ArraySlice<Signal> = []
        var taker: Taker?
        var isFinished = false
        var failure: BusError?
    }

    private let state = Mutex(State())

    /// Adds a signal; answers false if that was one too many and the sequence has ended.
    func put(_ signal: Signal) -> Bool {
        let (isKept, taker) = state.withLock { state -> (Bool, Taker?) in
            guard !state.isFinished else { return (false, nil) }
            if let taker = state.taker.take() { return (true, taker) }
            guard state.waiting.count < SignalSequence.maximumWaiting else {
                state.isFinished = true
                state.failure = .limitsExceeded("Too many signals came before they were read.")
                return (false, nil)
            }
            state.waiting.append(signal)
            return (true, nil)
        }
        taker?.resume(returning: signal)
        return isKept
    }

    /// Ends the sequence after what already waits.
    func finish() {
        let taker = state.withLock { state in
            state.isFinished = true
            return state.taker.take()
        }
        taker?.resume(returning: nil)
    }

    func next(isolation actor: isolated (any Actor)?) async throws(BusError) -> Signal? {
        let signal = await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: actor) { (taker: Taker) in
                let known = state.withLock { state -> Signal?? in
                    if let signal = state.waiting.popFirst() { return signal }
                    if state.isFinished || Task.isCancelled || state.taker != nil {
                        return .some(nil)
                    }
                    state.taker = taker
                    return nil
                }
                if let known { taker.resume(returning: known) }
            }
        } onCancel: {
            state.withLock { $0.taker.take() }?.resume(returning: nil)
        }
        guard signal == nil, let failure = state.withLock({ $0.failure }) else { return signal }
        throw failure
    }
}
