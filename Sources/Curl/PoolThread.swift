// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// The thread of a pool, and the executor of its actor.
///
/// The thread runs what was posted, in order of arrival, and then ``TransferPool/turn()``, which
/// waits inside libcurl. With nothing to do it waits there without a time limit.
final class PoolThread: SerialExecutor {
    /// A function to run on the thread.
    typealias Command = @Sendable (isolated TransferPool) -> Void

    private enum Item {
        case job(UnownedJob)
        case command(Command)
    }

    private enum Phase {
        case running, stopping, ended
    }

    private struct State {
        var items: [Item] = []
        var phase = Phase.running
        var thread: pthread_t?
    }

    private let multi: MultiHandle
    private let state = Mutex(State())
    /// The thread's id while it runs, otherwise 0.
    private let current = Atomic<UInt>(0)
    /// Waits for the thread's end, and runs the actor's jobs that come after it.
    private let afterlife = DispatchQueue(label: "curl.pool.ended")

    init(_ multi: MultiHandle) { self.multi = multi }

    /// Starts the thread, which keeps the pool alive until the thread ends; `pthread_create`.
    func start(_ pool: TransferPool) throws(CurlFailure) {
        let context = Unmanaged.passRetained(pool)
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, runPoolThread, context.toOpaque())
        guard code == 0 else {
            context.release()
            throw CurlFailure(
                code: .localFailure,
                description: "pthread_create: \(String(cString: strerror(code)))"
            )
        }
        state.withLock { $0.thread = thread }
    }

    /// Runs `command` on the thread; returns false if the thread has ended.
    func post(_ command: @escaping Command) -> Bool { add(.command(command)) }

    /// Lets the thread run what is posted, and then end; by then the pool must have no transfers.
    ///
    /// Called on the thread.
    func stop() { state.withLock { $0.phase = .stopping } }

    /// Returns once the thread has ended and was joined.
    func join() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            afterlife.async {
                if let thread = self.state.withLock({ $0.thread.take() }) {
                    pthread_join(thread, nil)
                }
                continuation.resume()
            }
        }
    }

    private func add(_ item: Item) -> Bool {
        state.withLock { state in
            guard state.phase != .ended else { return false }
            state.items.append(item)
            // One wake-up is enough for all items that have come before the thread takes them.
            if state.items.count == 1 { multi.wakeUp() }
            return true
        }
    }

    // MARK: SerialExecutor

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        guard !add(.job(job)) else { return }
        afterlife.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() {
        guard current.load(ordering: .relaxed) != UInt(pthread_self()) else { return }
        dispatchPrecondition(condition: .onQueue(afterlife))
    }

    // MARK: On the thread

    fileprivate func run(_ pool: TransferPool) {
        current.store(UInt(pthread_self()), ordering: .relaxed)
        while let items = takeItems() {
            for item in items {
                switch item {
                case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
                case .command(let command): pool.assumeIsolated { command($0) }
                }
            }
            pool.assumeIsolated { $0.turn() }
        }
        current.store(0, ordering: .relaxed)
        multi.close()
    }

    /// Returns what was posted since the last turn; nil when the thread has to end.
    private func takeItems() -> [Item]? {
        state.withLock { state in
            if state.items.isEmpty, state.phase == .stopping {
                state.phase = .ended
                return nil
            }
            defer { state.items = [] }
            return state.items
        }
    }
}

private func runPoolThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    // Signals are for the process's other threads. OpenSSL writes to sockets without MSG_NOSIGNAL,
    // so SIGPIPE from a broken connection would otherwise end the process.
    var signals = sigset_t()
    sigfillset(&signals)
    for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT] { sigdelset(&signals, fault) }
    pthread_sigmask(SIG_SETMASK, &signals, nil)
    let pool = Unmanaged<TransferPool>.fromOpaque(context).takeRetainedValue()
    pool.thread.run(pool)
    return nil
}
