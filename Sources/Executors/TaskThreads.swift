// SPDX-License-Identifier: Apache-2.0

#if OWN_THREADS
    import Dispatch
    import Glibc
    @_spi(ExperimentalScheduling) import _Concurrency

    /// The threads that run Swift's tasks, and the actors without an executor of their own.
    ///
    /// The runtime's own threads belong to Dispatch's global queues, which keep waking the process:
    /// see ``Lanes``.
    final class TaskThreads: TaskExecutor, SchedulingExecutor {
        /// One lane per processor, but at least 4, so that tasks that block for a moment, for
        /// example to look at a file, leave lanes for others.
        private static let count = max(4, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

        /// The longest wait: 100 years, which Dispatch's nanoseconds can hold; longer waits are cut
        /// to it.
        private static let longestWait = Duration.seconds(100 * 365 * 86_400)

        private let lanes = Lanes<UnownedJob>(count: count, label: "org.idown.tasks") {
            $0.runSynchronously(on: .noActor)
        }
        private let times = DispatchQueue(label: "org.idown.tasks.times")

        /// Runs a job as soon as a lane is free.
        func enqueue(_ job: consuming ExecutorJob) {
            let priority = job.priority.rawValue
            lanes.submit(UnownedJob(job), priority: priority)
        }

        /// Runs a job at a given time: the end of a sleep.
        ///
        /// The job runs on the queue of the timer, which saves a change of thread. Only the runtime
        /// calls this method, and its job does nothing but enqueue the task that slept.
        ///
        /// - Parameters:
        ///   - job: Wakes a task.
        ///   - instant: When to run. A continuous clock also counts the time while the computer
        ///     sleeps; any other clock does not.
        ///   - tolerance: Ignored.
        ///   - clock: The clock of `instant`; its durations must be in seconds.
        func enqueue<C: Clock>(
            _ job: consuming ExecutorJob,
            at instant: C.Instant,
            tolerance: C.Duration?,
            clock: C
        ) {
            guard let wait = clock.now.duration(to: instant) as? Duration else {
                preconditionFailure("a clock without seconds")
            }
            let rest = min(max(wait, .zero), Self.longestWait)
            let time =
                clock is ContinuousClock
                ? DispatchTime(sinceBoot: rest) : .now() + (rest / .seconds(1))
            let job = UnownedJob(job)
            times.asyncAfter(deadline: time) { job.runSynchronously(on: .noActor) }
        }
    }

    extension UnownedSerialExecutor {
        /// The executor of code that belongs to no actor: two words of zeros,
        /// `swift_executor_generic` in <swift/ExecutorImpl.h>.
        ///
        /// With any other executor, a task would change threads at each call that changes no actor.
        fileprivate static var noActor: Self { unsafeBitCast((0, 0), to: Self.self) }
    }

    extension DispatchTime {
        /// Creates the time `wait` from now on the clock that also runs while the computer sleeps.
        ///
        /// The highest bit marks a time of that clock, as in the runtime's own executor:
        /// `DISPATCH_UP_OR_MONOTONIC_TIME_MASK` of Dispatch's time.h.
        fileprivate init(sinceBoot wait: Duration) {
            var now = timespec()
            clock_gettime(CLOCK_BOOTTIME, &now)
            let time = .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec) + wait
            let (seconds, attoseconds) = time.components
            let nanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
            self.init(uptimeNanoseconds: nanoseconds | 1 << 63)
        }
    }
#endif
