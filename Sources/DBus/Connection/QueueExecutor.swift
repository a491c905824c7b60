// SPDX-License-Identifier: Apache-2.0

/// A thread of its own as the executor of actors.
///
/// Jobs run one at a time and in the order in which they were enqueued. Actors that share one
/// executor call each other without a change of thread. The thread ends with the executor.
public final class QueueExecutor: SerialExecutor {
    let loop: EventLoop

    /// Makes an executor with a thread of its own.
    ///
    /// - Throws: `org.freedesktop.DBus.Error.Failed` where the system has no thread or descriptor
    ///   to give.
    public init() throws(BusError) {
        loop = try EventLoop.start()
    }

    deinit {
        loop.end()
    }

    /// Puts a job behind all that is already waiting.
    public func enqueue(_ job: consuming ExecutorJob) {
        loop.post(.job(UnownedJob(job), self))
    }

    /// Runs a body, which is isolated to every actor of this executor, behind all that is waiting.
    public func post(_ body: @escaping @Sendable () -> Void) {
        loop.post(.body(body))
    }

    /// Runs a body at once where the caller is on the thread, else as ``post(_:)`` does.
    public func run(_ body: @escaping @Sendable () -> Void) {
        if loop.isCurrent { body() } else { post(body) }
    }

    /// Whether the caller runs on the thread.
    ///
    /// With this answer a task that starts at once on the thread need not be enqueued first.
    public func isIsolatingCurrentContext() -> Bool? {
        loop.isCurrent
    }

    /// Traps unless the caller runs on the thread.
    public func checkIsolated() {
        precondition(loop.isCurrent, "not on the thread of this executor")
    }
}
