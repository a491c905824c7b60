// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting

@Suite struct SchedulerTests {
    /// One row: slots; runners, the first to leave first; candidates; starts; displacements.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let slots: Int
        let running: [Int64]
        let waiting: [Int64]
        let starts: [Int64]
        let displaces: [Int64]

        init(
            _ description: String,
            slots: Int,
            running: [Int64] = [],
            waiting: [Int64] = [],
            starts: [Int64] = [],
            displaces: [Int64] = []
        ) {
            testDescription = description
            self.slots = slots
            self.running = running
            self.waiting = waiting
            self.starts = starts
            self.displaces = displaces
        }
    }

    static let rows = [
        Row("nothing to do", slots: 3),
        Row("free slots are filled in order", slots: 2, waiting: [7, 3, 5], starts: [7, 3]),
        Row("fewer candidates than slots", slots: 3, waiting: [4], starts: [4]),
        Row("one slot is left", slots: 2, running: [1], waiting: [2, 3], starts: [2]),
        Row("all slots are taken", slots: 1, running: [1], waiting: [2]),
        Row("the first ones leave", slots: 1, running: [2, 3, 1], displaces: [2, 3]),
        Row(
            "who leaves makes no room",
            slots: 2,
            running: [1, 3, 2],
            waiting: [9],
            displaces: [1]
        ),
        Row("no slots at all", slots: 0, running: [1], waiting: [2], displaces: [1]),
    ]

    @Test(arguments: rows)
    func `slots are brought into line`(row: Row) throws {
        let decisions = Scheduler.decide(
            slots: row.slots,
            running: try row.running.map(id),
            candidates: try row.waiting.map(id)
        )
        let starts = try row.starts.map { Scheduler.Decision.start(try id($0)) }
        let displacements = try row.displaces.map { Scheduler.Decision.displace(try id($0)) }
        #expect(decisions == starts + displacements)
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `a slot is filled, or the least worthy leaves, one at a time`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let slots = Int.random(in: 0...6, using: &random)
        let numbers = Array(1...12 as ClosedRange<Int64>).shuffled(using: &random)
        let split = Int.random(in: 0...8, using: &random)
        let running = try numbers.prefix(split).map(id)
        let candidates = try numbers.dropFirst(split).map(id)

        var (left, waiting) = (running, candidates)
        var expected: [Scheduler.Decision] = []
        while left.count > slots { expected.append(.displace(left.removeFirst())) }
        if left.count == running.count {
            var free = slots - left.count
            while free > 0, !waiting.isEmpty {
                expected.append(.start(waiting.removeFirst()))
                free -= 1
            }
        }
        let decisions = Scheduler.decide(slots: slots, running: running, candidates: candidates)
        #expect(decisions == expected, "seed \(seed)")
    }

    private func id(_ number: Int64) throws -> TaskID { try #require(TaskID(rawValue: number)) }
}
