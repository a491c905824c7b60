// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// Runs transfers on a thread of its own, any number at a time.
///
/// It owns one multi handle of libcurl and its connections, which later transfers reuse. The thread
/// makes ``RunningTransfers``, through which everything goes that touches libcurl, and gives it to
/// no other thread. The thread runs what others post, in order of arrival, and then takes a turn,
/// which waits inside libcurl: with nothing to do, without a time limit. The thread keeps the pool
/// alive until ``shutDown()``.
public final class TransferPool: Sendable {
    /// A function to run on the thread.
    private typealias Command = @Sendable (RunningTransfers) -> Void

    private struct State {
        var commands: [Command] = []
        var hasEnded = false
        var thread: pthread_t?
    }

    private let funnel: Funnel
    private let multi: MultiHandle
    private let state = Mutex(State())
    /// Waits for the thread's end.
    private let joining = DispatchQueue(label: "curl.pool.ended")
    private let countedTurns = Atomic<Int>(0)

    /// How many turns the thread has taken; for tests of idleness.
    package var turns: Int { countedTurns.load(ordering: .relaxed) }

    /// Initialises libcurl and starts the thread.
    ///
    /// - Throws: ``CurlFailure`` where there is no memory, no thread or no descriptor.
    public convenience init() throws(CurlFailure) { try self.init(faults: nil) }

    /// Makes a pool in which a test can make calls into libcurl fail.
    package init(faults: (@Sendable () -> Bool)?) throws(CurlFailure) {
        funnel = Funnel(faults: faults)
        try CurlLibrary.initialize(funnel)
        multi = try MultiHandle(funnel)
        do throws(CurlFailure) {
            try start()
        } catch {
            multi.close()
            throw error
        }
    }

    /// Starts the thread; `pthread_create`.
    private func start() throws(CurlFailure) {
        let context = Unmanaged.passRetained(self)
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

    /// Begins a transfer, and returns without waiting.
    ///
    /// - Parameters:
    ///   - request: What to get; one that cannot be sent has the outcome ``CurlCode/badRequest``.
    ///   - sink: Takes the answer; kept until the outcome is known.
    /// - Returns: The handle of the transfer, whose outcome reports every failure.
    public func begin(_ request: TransferRequest, sink: any TransferSink) -> TransferHandle {
        let handle = TransferHandle(driver: self)
        let isPosted = post { $0.start(request, sink: sink, handle: handle) }
        if !isPosted { handle.settle(RunningTransfers.shutDownOutcome) }
        return handle
    }

    /// Cancels all transfers, ends the thread and frees everything; may be called again.
    public func shutDown() async {
        _ = post { $0.tearDown() }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            joining.async { [self] in
                // In the queue: a second call waits for the first one's join.
                if let thread = state.withLock({ $0.thread.take() }) { pthread_join(thread, nil) }
                continuation.resume()
            }
        }
    }

    /// Ends the transfers whose connections use addresses that this computer no longer has: no
    /// answer reaches them, and otherwise only the silence timeout would notice.
    ///
    /// - Parameter addresses: the present addresses of this computer.
    public func endTransfers(cutOffFrom addresses: Set<SocketAddress>) {
        _ = post { $0.end(cutOffFrom: addresses) }
    }

    package func resume(_ handle: TransferHandle) { _ = post { $0.unpause(handle) } }

    package func cancel(_ handle: TransferHandle) { _ = post { $0.cancel(handle) } }

    /// Runs `command` on the thread; returns false if the thread has ended.
    private func post(_ command: @escaping Command) -> Bool {
        state.withLock { state in
            guard !state.hasEnded else { return false }
            state.commands.append(command)
            // One wake-up is enough for all commands that come before the thread takes them.
            if state.commands.count == 1 { multi.wakeUp() }
            return true
        }
    }

    // MARK: On the thread

    fileprivate func run() {
        let transfers = RunningTransfers(funnel, multi)
        while let commands = takeCommands(orEnd: transfers.isShutDown) {
            for command in commands { command(transfers) }
            countedTurns.wrappingAdd(1, ordering: .relaxed)
            transfers.turn()
        }
        multi.close()
    }

    /// Returns what was posted since the last turn; nil when the thread has to end.
    private func takeCommands(orEnd mayEnd: Bool) -> [Command]? {
        state.withLock { state in
            state.hasEnded = mayEnd && state.commands.isEmpty
            defer { state.commands = [] }
            return state.hasEnded ? nil : state.commands
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
    Unmanaged<TransferPool>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
