// SPDX-License-Identifier: Apache-2.0

private import Synchronization

/// Signals in the order of arrival, each as an element of the type that was asked for.
///
/// No signal is lost: those that arrive wait here, up to ``maximumWaiting`` and 256 MiB of memory; one
/// more ends the sequence with `LimitsExceeded`. The sequence ends when the connection does. The bus is told that
/// nobody listens any more once the last copy of the sequence and its iterators is gone.
///
/// One task iterates; of several each signal goes to one of them.
public struct SignalSequence<Element>: AsyncSequence, Sendable {
    /// The error that iterating can throw.
    public typealias Failure = BusError

    /// How many signals may wait to be taken.
    public static var maximumWaiting: Int { SignalQueue.maximumWaiting }

    private let subscriber: SignalSubscriber
    private let read: @Sendable (SignalMessage) -> Element?

    /// Signals that are read as nil are left out.
    init(_ subscriber: SignalSubscriber, read: @escaping @Sendable (SignalMessage) -> Element?) {
        self.subscriber = subscriber
        self.read = read
    }

    /// Returns the same signals, each as what a function makes of it; those of nil are left out.
    ///
    /// Unlike the standard library's `compactMap` it keeps the type of the sequence and its errors.
    public func map<Other>(
        _ transform: @escaping @Sendable (Element) -> Other?
    ) -> SignalSequence<Other> {
        SignalSequence<Other>(subscriber) { [read] in read($0).flatMap(transform) }
    }

    /// Takes the signals one by one.
    public func makeAsyncIterator() -> Iterator {
        Iterator(subscriber: subscriber, read: read)
    }

    /// Takes the signals one by one.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let subscriber: SignalSubscriber
        fileprivate let read: @Sendable (SignalMessage) -> Element?

        /// The next signal; nil at the end, and when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(BusError) -> Element? {
            while let message = try await subscriber.queue.next(isolation: actor) {
                if let element = read(message) { return element }
            }
            return nil
        }

        /// The next signal; nil at the end, and when the task is cancelled.
        public mutating func next() async throws(BusError) -> Element? {
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
    static let maximumWaiting = 65_536
    /// The bytes of memory that waiting signals may take; an array of bytes takes 40 for each.
    static let maximumMemory = WireReader.maximumMemory

    private typealias Taker = CheckedContinuation<SignalMessage?, Never>

    private struct State {
        var waiting: ArraySlice<(signal: SignalMessage, memory: Int)> = []
        var memory = 0
        var taker: Taker?
        var isFinished = false
        var failure: BusError?

        mutating func overflow() {
            guard !isFinished else { return }
            isFinished = true
            failure = .limitsExceeded("More signals came than may wait to be read.")
        }
    }

    private let state = Mutex(State())

    /// Adds a signal, whose arguments take so much memory; answers false if that was too much and the
    /// sequence has ended.
    func put(_ signal: SignalMessage, taking memory: Int = 0) -> Bool {
        let (isKept, taker) = state.withLock { state -> (Bool, Taker?) in
            guard !state.isFinished else { return (false, nil) }
            if let taker = state.taker.take() { return (true, taker) }
            let isTooMuch = state.memory > Self.maximumMemory - memory
            guard state.waiting.count < Self.maximumWaiting, !isTooMuch else {
                state.overflow()
                return (false, nil)
            }
            state.waiting.append((signal, memory))
            state.memory += memory
            return (true, nil)
        }
        taker?.resume(returning: signal)
        return isKept
    }

    /// Ends the sequence, after the signals that wait, because one is too large to be taken.
    func overflow() {
        let taker = state.withLock { state in
            state.overflow()
            return state.taker.take()
        }
        taker?.resume(returning: nil)
    }

    /// Ends the sequence after what already waits.
    func finish() {
        let taker = state.withLock { state in
            state.isFinished = true
            return state.taker.take()
        }
        taker?.resume(returning: nil)
    }

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
