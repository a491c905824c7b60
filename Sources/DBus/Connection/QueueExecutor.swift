// SPDX-License-Identifier: Apache-2.0

public import Dispatch

/// A serial dispatch queue as the executor of actors.
///
/// Jobs run one at a time and in the order in which they were enqueued. Actors that share one
/// executor call each other without a change of thread.
public final class QueueExecutor: SerialExecutor {
    /// The queue; what runs on it is isolated to every actor of this executor.
    public let queue: DispatchQueue

    /// What only this queue carries.
    private let mark = DispatchSpecificKey<Void>()

    /// Makes an executor with a queue of its own.
    ///
    /// - Parameter label: The queue's name in debuggers.
    public init(label: String) {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: mark, value: ())
    }

    /// Puts a job behind all that is already waiting.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            job.runSynchronously(on: self.asUnownedSerialExecutor())
        }
    }

    /// Whether the caller runs on the queue.
    ///
    /// With this answer a task that starts at once on the queue need not be enqueued first.
    public func isIsolatingCurrentContext() -> Bool? {
        DispatchQueue.getSpecific(key: mark) != nil
    }

    /// Traps unless the caller runs on the queue.
    public func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
