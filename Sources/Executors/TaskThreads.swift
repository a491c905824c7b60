// SPDX-License-Identifier: Apache-2.0

#if OWN_THREADS
    import Dispatch
    import Glibc
    @_spi(ExperimentalScheduling) import _Concurrency

    /// The threads under Swift's tasks and under the actors that have no executor of their own.
    ///
    /// The runtime's own are those of Dispatch's global queues, which keep a process awake: see
    /// ``Lanes``.
    final class TaskThreads: TaskExecutor, SchedulingExecutor {
        /// As many as there are processors; where there are few, what blocks for a moment, like a look
        /// at a file, must leave some.
        private static let count = max(4, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

        /// Longer waits count as this one: 100 years, which Dispatch's nanoseconds can hold.
        private static let longestWait = Duration.seconds(100 * 365 * 86_400)

        private let lanes = Lanes<UnownedJob>(count: count, label: "org.idown.tasks") {
            $0.runSynchronously(on: .nobodys)
        }
        private let times = DispatchQueue(label: "org.idown.tasks.times")

        /// Has a job run as soon as a thread is free.
        func enqueue(_ job: consuming ExecutorJob) {
            let priority = job.priority.rawValue
            lanes.submit(UnownedJob(job), priority: priority)
        }

        /// Has a job run at a time: the end of a sleep.
        ///
        /// It runs where the time is noticed, which saves a change of thread: the runtime alone calls
        /// this, and its job does nothing but enqueue the task that slept.
        ///
        /// - Parameters:
        ///   - job: wakes a task.
        ///   - instant: a continuous clock goes on while the computer sleeps, any other does not.
        ///   - tolerance: not made use of.
        ///   - clock: of `instant`, whose durations are in seconds.
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
            times.asyncAfter(deadline: time) { job.runSynchronously(on: .nobodys) }
        }
    }

    extension UnownedSerialExecutor {
        /// The executor of what belongs to no actor: two words of zeros, `swift_executor_generic` in
        /// <swift/ExecutorImpl.h>.
        ///
        /// With any other a task would change threads at each call that changes no actor.
        fileprivate static var nobodys: Self { unsafeBitCast((0, 0), to: Self.self) }
    }

    extension DispatchTime {
        /// So long from now by the clock that goes on while the computer sleeps.
        ///
        /// The highest bit tells it from the other one, as in the runtime's own executor:
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
