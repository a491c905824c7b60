// SPDX-License-Identifier: Apache-2.0

#if OWN_THREADS
    import Synchronization
    import Testing
    @_spi(ExperimentalScheduling) import _Concurrency
    import iDownTesting

    @testable import Executors

    @Suite struct TaskThreadsTests {
        @Test func `tasks and the actors that they call run to their end`() async throws {
            let threads = TaskThreads()
            let counter = Counter()
            try await within("a thousand tasks") {
                await withTaskExecutorPreference(threads) {
                    await withTaskGroup { group in
                        for _ in 0..<1_000 {
                            group.addTask {
                                await Task.yield()
                                await counter.add()
                            }
                        }
                    }
                }
            }
            #expect(await counter.count == 1_000)
        }

        @Test
        func
            `a time that is sooner than the one waited for is not missed; the later one still waits`()
            async throws
        {
            let threads = TaskThreads()
            let isLateOneRun = Mutex(false)
            let late = Task(executorPreference: Delay(.seconds(3_600), on: threads)) {
                isLateOneRun.withLock { $0 = true }
            }
            for wait in [Duration.milliseconds(20), .milliseconds(1), .zero, .seconds(-5)] {
                try await within("a job due in \(wait)") {
                    await Task(executorPreference: Delay(wait, on: threads)) {}.value
                }
            }
            let isTooEarly = isLateOneRun.withLock { $0 }
            #expect(!isTooEarly)
            late.cancel()
        }

        @Test(arguments: [true, false])
        func `no time comes too early, by either clock`(isContinuous: Bool) async throws {
            let threads = TaskThreads()
            let wait = Duration.milliseconds(50)
            try await within("the time") {
                if isContinuous {
                    let start = ContinuousClock.now
                    await Task(executorPreference: Delay(wait, on: threads)) {}.value
                    #expect(ContinuousClock.now - start >= wait)
                } else {
                    let start = SuspendingClock.now
                    await Task(executorPreference: Delay(wait, of: .suspending, on: threads)) {}
                        .value
                    #expect(SuspendingClock.now - start >= wait)
                }
            }
        }

        @Test func `a wait beyond all measure is only a long one`() async throws {
            let threads = TaskThreads()
            let isRun = Mutex(false)
            let endless = Task(executorPreference: Delay(.seconds(Int64.max / 4), on: threads)) {
                isRun.withLock { $0 = true }
            }
            try await within("a job after it") {
                await Task(executorPreference: Delay(.milliseconds(1), on: threads)) {}.value
            }
            let isTooEarly = isRun.withLock { $0 }
            #expect(!isTooEarly)
            endless.cancel()
        }
    }

    private actor Counter {
        var count = 0

        func add() { count += 1 }
    }

    /// Hands each job on to be run after so long.
    private final class Delay<Time: Clock>: TaskExecutor where Time.Duration == Duration {
        private let wait: Duration
        private let clock: Time
        private let threads: TaskThreads

        init(_ wait: Duration, of clock: Time = .continuous, on threads: TaskThreads) {
            self.wait = wait
            self.clock = clock
            self.threads = threads
        }

        func enqueue(_ job: consuming ExecutorJob) {
            threads.enqueue(job, at: clock.now.advanced(by: wait), tolerance: nil, clock: clock)
        }
    }
#endif
