// SPDX-License-Identifier: Apache-2.0

private import Synchronization

/// The received signals in order of arrival, each converted to the element type.
///
/// A signal whose arguments cannot be decoded is left out, also one whose values would take more than
/// 256 MiB. No other is lost: up to ``maximumWaiting`` signals, with up to 256 MiB of arguments, wait
/// here; one more ends the sequence with `LimitsExceeded`. The sequence also ends with the connection.
/// Once the last copy of the sequence and its iterators is gone, the match rule is removed from the
/// bus.
///
/// Let one task iterate: each signal goes to one iterator only, and a second task that waits at the
/// same time gets nil.
public struct SignalSequence<Element>: AsyncSequence, Sendable {
    /// The error that iterating can throw.
    public typealias Failure = BusError

    /// The most signals that may wait.
    public static var maximumWaiting: Int { SignalQueue.maximumWaiting }

    private let queue: SignalQueue
    private let read: @Sendable (SignalMessage) -> Element?

    /// Creates a sequence; signals that `read` maps to nil are left out.
    init(_ queue: SignalQueue, read: @escaping @Sendable (SignalMessage) -> Element?) {
        self.queue = queue
        self.read = read
    }

    /// Returns the sequence with each element transformed; elements that become nil are left out.
    ///
    /// Unlike the standard library's `compactMap`, this keeps the type of the sequence and of its
    /// errors.
    public func map<Other>(
        _ transform: @escaping @Sendable (Element) -> Other?
    ) -> SignalSequence<Other> {
        SignalSequence<Other>(queue) { [read] in read($0).flatMap(transform) }
    }

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(queue: queue, read: read) }

    /// Takes the signals one by one.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let queue: SignalQueue
        fileprivate let read: @Sendable (SignalMessage) -> Element?

        /// Returns the next signal; nil at the end, and when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(BusError) -> Element? {
            while let message = try await queue.next(isolation: actor) {
                if let element = read(message) { return element }
            }
            return nil
        }

        /// Returns the next signal; nil at the end, and when the task is cancelled.
        public mutating func next() async throws(BusError) -> Element? {
            try await next(isolation: nil)
        }
    }
}

/// A queue of signals that the connection fills and one task empties.
///
/// Only the copies of its sequence own it: its deinit removes the match rule from the bus.
///
/// The waiting task is resumed after the lock is released. If the runtime is cancelling the task at
/// that moment, it holds the task's own lock while it waits for this one (see
/// `withTaskCancellationHandler`).
final class SignalQueue: Sendable {
    static let maximumWaiting = 65_536
    /// The most bytes of arguments of waiting signals: 256 MiB.
    static let maximumMemory = 256 << 20

    private typealias Taker = CheckedContinuation<SignalMessage?, Never>

    private struct State {
        var waiting: ArraySlice<(signal: SignalMessage, memory: Int)> = []
        var memory = 0
        var taker: Taker?
        var isFinished = false
        var failure: BusError?

        /// Ends the sequence, and returns the task that waits.
        mutating func finish(isFull: Bool) -> Taker? {
            guard !isFinished else { return nil }
            isFinished = true
            if isFull { failure = .limitsExceeded("More signals came than may wait to be read.") }
            return taker.take()
        }
    }

    private let state = Mutex(State())
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void = {}) { self.onEnd = onEnd }

    deinit { onEnd() }

    /// Adds a signal whose arguments have `memory` bytes; returns false if the sequence has ended,
    /// also because this signal exceeded a limit.
    func put(_ signal: SignalMessage, taking memory: Int = 0) -> Bool {
        let (isKept, taker) = state.withLock { state -> (Bool, Taker?) in
            guard !state.isFinished else { return (false, nil) }
            if let taker = state.taker.take() { return (true, taker) }
            let isTooMuch = state.memory > Self.maximumMemory - memory
            guard state.waiting.count < Self.maximumWaiting, !isTooMuch else {
                _ = state.finish(isFull: true)
                return (false, nil)
            }
            state.waiting.append((signal, memory))
            state.memory += memory
            return (true, nil)
        }
        taker?.resume(returning: signal)
        return isKept
    }

    /// Ends the sequence after the waiting signals.
    func finish() { state.withLock { $0.finish(isFull: false) }?.resume(returning: nil) }

    func next(isolation actor: isolated (any Actor)?) async throws(BusError) -> SignalMessage? {
        let signal = await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: actor) { (taker: Taker) in
                let known = state.withLock { state -> SignalMessage?? in
                    if let first = state.waiting.popFirst() {
                        state.memory -= first.memory
                        return first.signal
                    }
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
