// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Synchronization

/// Runs everything that has no executor of its own on the thread of the service, as long as a
/// simulation lasts: nothing runs beside anything else, and every run of a seed is the same.
final class SimulatedExecutor: TaskExecutor {
    /// The service's own thread.
    let thread: QueueExecutor
    private let count = Atomic<Int>(0)

    init(_ thread: QueueExecutor) { self.thread = thread }

    /// The jobs so far.
    var jobs: Int { count.load(ordering: .relaxed) }

    func enqueue(_ job: consuming ExecutorJob) { run(UnownedJob(job)) }

    private func run(_ job: UnownedJob) {
        count.wrappingAdd(1, ordering: .relaxed)
        thread.post { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Returns when all that is due has run: when nothing has been asked of the world for a while.
    func settle(_ life: Life) async {
        var quiet = 0
        while quiet < 6 {
            let before = (jobs, life.questions)
            await withCheckedContinuation { continuation in thread.post { continuation.resume() } }
            // Only this very wait has come by.
            quiet = (jobs, life.questions) == (before.0 + 1, before.1) ? quiet + 1 : 0
        }
    }

    // MARK: The runtime's own executor

    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

    /// The one that stands in for the runtime's own; nil outside of simulations.
    private static let present = Mutex<SimulatedExecutor?>(nil)

    /// Runs `body` with this one in the place of the runtime's own, by a hook that the runtime has
    /// for tests: swift_task_enqueueGlobal_hook.
    ///
    /// - Throws: `NoHook` where the runtime has none; what `body` throws.
    func run<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        guard let symbol = dlsym(nil, "swift_task_enqueueGlobal_hook") else { throw NoHook() }
        let hook = symbol.assumingMemoryBound(to: Hook?.self)
        Self.present.withLock { $0 = self }
        hook.pointee = { job, original in
            guard let executor = SimulatedExecutor.present.withLock({ $0 }) else {
                return original(job)
            }
            executor.run(job)
        }
        // Jobs that are under way still find the hook, which passes them on.
        defer { Self.present.withLock { $0 = nil } }
        return try await withTaskExecutorPreference(self, operation: body)
    }

    /// This runtime cannot be told to run everything on one thread.
    struct NoHook: Error {}
}
