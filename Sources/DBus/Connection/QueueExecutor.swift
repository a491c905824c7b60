// SPDX-License-Identifier: Apache-2.0

/// An executor for actors that runs on a thread of its own.
///
/// Jobs run one at a time, in the order in which they were enqueued. Actors that share an executor
/// call each other without a change of thread. The thread ends with the executor.
public final class QueueExecutor: SerialExecutor {
    let loop: EventLoop

    /// Creates an executor and its thread.
    ///
    /// - Throws: `org.freedesktop.DBus.Error.Failed` if the system has no thread or descriptor
    ///   left.
    public init() throws(BusError) { loop = try EventLoop() }

    deinit { loop.end() }

    /// Enqueues a job after everything that is already waiting.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.post { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Runs a body after everything that is already waiting; the body is isolated to every actor of
    /// this executor.
    public func post(_ body: @escaping @Sendable () -> Void) { loop.post(body) }

    /// Runs a body now if the caller is on the thread, otherwise like ``post(_:)``.
    public func run(_ body: @escaping @Sendable () -> Void) {
        if loop.isCurrent { body() } else { post(body) }
    }

    /// Whether the caller runs on the thread.
    ///
    /// Because of this, a task that starts immediately on the thread need not be enqueued first.
    public func isIsolatingCurrentContext() -> Bool? { loop.isCurrent }

    /// Traps unless the caller runs on the thread.
    public func checkIsolated() {
        precondition(loop.isCurrent, "not on the thread of this executor")
    }
}
