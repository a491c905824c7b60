// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import Testing
import iDownTesting

@testable import DBus

/// Looks at something when a task is woken, before it goes on.
private final class LookingExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "idown.test.reader")
    private let look = Mutex<(@Sendable () -> Void)?>(nil)
    private let ran = Atomic(0)

    /// How many pieces of work are done.
    var count: Int { ran.load(ordering: .sequentiallyConsistent) }

    func whenNextWoken(_ look: @escaping @Sendable () -> Void) {
        self.look.withLock { $0 = look }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        look.withLock { $0.take() }?()
        let job = UnownedJob(job)
        queue.async { [self] in
            job.runSynchronously(on: asUnownedTaskExecutor())
            ran.add(1, ordering: .sequentiallyConsistent)
        }
    }
}

/// What lies between the connection's thread and the task that reads.
@Suite(.timeLimit(.minutes(2))) struct SignalSequenceTests {
    enum Happening: CaseIterable, Sendable {
        case signal, end, cancellation
    }

    private static let signal = SignalMessage(
        sender: nil,
        path: "/a",
        interface: "a.b",
        member: "C",
        body: WireReader(WireWriter())
    )

    @Test func `signals that take too much memory end the sequence, after those that wait`()
        async throws
    {
        let queue = SignalQueue()
        let half = SignalQueue.maximumMemory / 2
        #expect(queue.put(Self.signal, taking: half))
        #expect(queue.put(Self.signal, taking: half))
        #expect(try await queue.next(isolation: nil) != nil)
        #expect(queue.put(Self.signal, taking: half))
        #expect(!queue.put(Self.signal, taking: 1))
        for _ in 0..<2 { #expect(try await queue.next(isolation: nil) != nil) }
        await #expect(throws: BusError.self) { try await queue.next(isolation: nil) }
    }

    /// The runtime holds a task that it cancels, and waits for the queue's lock: whoever wanted the
    /// task while holding the lock stood still with it for good.
    @Test(arguments: Happening.allCases)
    func `no reader is woken under the lock`(happening: Happening) async throws {
        let (queue, executor) = (SignalQueue(), LookingExecutor())
        let reading = Task(executorPreference: executor) {
            try await queue.next(isolation: nil)
        }
        try await soon("the reader to wait") { executor.count == 1 }
        let isFree = Mutex<Bool?>(nil)
        executor.whenNextWoken {
            let end = DispatchSemaphore(value: 0)
            DispatchQueue(label: "idown.test.other").async {
                queue.finish()
                end.signal()
            }
            let result = end.wait(timeout: .now() + 20)
            isFree.withLock { $0 = result == .success }
        }
        // Not on Swift's own threads, which are too few to stand still.
        DispatchQueue(label: "idown.test.happening").async {
            switch happening {
            case .signal: _ = queue.put(Self.signal)
            case .end: queue.finish()
            case .cancellation: reading.cancel()
            }
        }
        let taken = try await within("the reader") { try await reading.value }
        #expect((taken != nil) == (happening == .signal))
        #expect(isFree.withLock { $0 } == true)
    }
}
