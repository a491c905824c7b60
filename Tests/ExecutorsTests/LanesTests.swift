// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import Testing
import iDownTesting

@testable import Executors

@Suite struct LanesTests {
    private typealias Body = @Sendable () -> Void

    /// What was done, and by how many at a time.
    private final class Tally: Sendable {
        private struct State {
            var numbers: [Int] = []
            var isUnderWay = 0
            var most = 0
            var awaited: (count: Int, waiter: CheckedContinuation<Void, Never>)?
        }

        private let state = Mutex(State())

        var numbers: [Int] { state.withLock { $0.numbers } }
        var most: Int { state.withLock { $0.most } }

        func begin() {
            state.withLock { state in
                state.isUnderWay += 1
                state.most = max(state.most, state.isUnderWay)
            }
        }

        func end(_ number: Int) {
            state.withLock { state in
                state.isUnderWay -= 1
                state.numbers.append(number)
                Self.tell(&state)
            }
        }

        /// Returns once so many pieces are done.
        func reach(_ count: Int) async throws {
            try await within("\(count) pieces") {
                await withCheckedContinuation { waiter in
                    self.state.withLock { state in
                        state.awaited = (count, waiter)
                        Self.tell(&state)
                    }
                }
            }
        }

        private static func tell(_ state: inout State) {
            guard let awaited = state.awaited, state.numbers.count >= awaited.count else { return }
            state.awaited = nil
            awaited.waiter.resume()
        }
    }

    private func makeLanes(_ count: Int) -> Lanes<Body> {
        Lanes(count: count, label: "test") { $0() }
    }

    @Test func `one lane does one thing at a time, by priority and then in order`() async throws {
        let lanes = makeLanes(1)
        let gate = DispatchSemaphore(value: 0)
        let tally = Tally()
        // Before it is under way it would be one of those that wait, and the last of them.
        await withCheckedContinuation { begun in
            lanes.submit {
                begun.resume()
                gate.wait()
            }
        }
        let given: [(Int, UInt8)] = [(3, 9), (1, 21), (4, 9), (2, 21), (0, 25)]
        for (number, priority) in given {
            lanes.submit(
                {
                    tally.begin()
                    tally.end(number)
                },
                priority: priority
            )
        }
        #expect(tally.numbers.isEmpty)
        gate.signal()
        try await tally.reach(given.count)
        #expect(tally.numbers == [0, 1, 2, 3, 4])
        #expect(tally.most == 1)
    }

    @Test func `lanes that block leave the others to all that waits`() async throws {
        let lanes = makeLanes(3)
        let gate = DispatchSemaphore(value: 0)
        defer { for _ in 0..<2 { gate.signal() } }
        let tally = Tally()
        for _ in 0..<2 { lanes.submit { gate.wait() } }
        for number in 0..<100 {
            lanes.submit {
                tally.begin()
                tally.end(number)
            }
        }
        try await tally.reach(100)
        #expect(tally.numbers == Array(0..<100))
    }

    @Test func `as much is under way as there are lanes, and no more`() async throws {
        let lanes = makeLanes(2)
        let meeting = DispatchSemaphore(value: 0)
        let tally = Tally()
        // The first two meet, or the test would not end.
        lanes.submit {
            tally.begin()
            meeting.wait()
            tally.end(0)
        }
        lanes.submit {
            tally.begin()
            meeting.signal()
            tally.end(1)
        }
        for number in 2..<500 {
            lanes.submit {
                tally.begin()
                tally.end(number)
            }
        }
        try await tally.reach(500)
        #expect(tally.most <= 2)
    }

    @Test func `ten thousand pieces from many threads are each done once`() async throws {
        let lanes = makeLanes(4)
        let tally = Tally()
        await withTaskGroup(of: Void.self) { group in
            for part in 0..<10 {
                group.addTask {
                    for number in part * 1_000..<(part + 1) * 1_000 {
                        lanes.submit(
                            {
                                tally.begin()
                                tally.end(number)
                            },
                            priority: UInt8(number % 3)
                        )
                    }
                }
            }
        }
        try await tally.reach(10_000)
        let areAllDoneOnce = tally.numbers.sorted() == Array(0..<10_000)
        #expect(areAllDoneOnce)
    }

    @Test func `lanes that are let go of end with the work that waits`() async throws {
        let tally = Tally()
        let gate = DispatchSemaphore(value: 0)
        do {
            let lanes = makeLanes(1)
            lanes.submit { gate.wait() }
            for number in 0..<10 {
                lanes.submit {
                    tally.begin()
                    tally.end(number)
                }
            }
        }
        gate.signal()
        try await tally.reach(10)
        #expect(tally.numbers == Array(0..<10))
    }
}
