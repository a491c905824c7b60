// SPDX-License-Identifier: Apache-2.0

package import DBus

/// Has transfers decide on the coordinator's own thread.
///
/// Each decision takes a moment, and most of them end in a commit, which is the coordinator's: a
/// small file took nine changes of thread more on threads of the runtime, and a fifth of the time.
package final class TransferThread: TaskExecutor {
    private let thread: QueueExecutor

    package init(_ thread: QueueExecutor) { self.thread = thread }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        thread.post { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
