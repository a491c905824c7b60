// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting

@Suite struct SchedulerTests {
    /// One row: slots; runners as (id, priority, start); candidates; starts; displacements.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let slots: Int
        let running: [(Int64, Int32, Int64)]
        let waiting: [Int64]
        let starts: [Int64]
        let displaces: [Int64]

        init(
            _ description: String,
            slots: Int,
            running: [(Int64, Int32, Int64)] = [],
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
        Row("one slot is left", slots: 2, running: [(1, 0, 1)], waiting: [2, 3], starts: [2]),
        Row("all slots are taken", slots: 1, running: [(1, 0, 1)], waiting: [2]),
        Row(
            "a higher priority displaces nobody",
            slots: 1,
            running: [(1, -5, 1)],
            waiting: [2]
        ),
        Row(
            "the last-started goes first",
            slots: 1,
            running: [(1, 0, 1), (2, 0, 3), (3, 0, 2)],
            displaces: [2, 3]
        ),
        Row(
            "the lowest priority goes before the last-started",
            slots: 2,
            running: [(1, -1, 1), (2, 5, 3), (3, 0, 2)],
            waiting: [9],
            displaces: [1]
        ),
        Row(
            "the last-started of the lowest priority",
            slots: 2,
            running: [(1, 0, 1), (2, 0, 2), (3, 1, 3)],
            displaces: [2]
        ),
        Row("no slots at all", slots: 0, running: [(1, 0, 1)], waiting: [2], displaces: [1]),
        Row(
            "the extremes of priority",
            slots: 1,
            running: [(1, .min, 1), (2, .max, 2)],
            displaces: [1]
        ),
    ]

    @Test(arguments: rows)
    func `slots are brought into line`(row: Row) throws {
        let decisions = Scheduler.decide(
            slots: row.slots,
            running: try row.running.map { try runner($0.0, $0.1, $0.2) },
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
        let running = try numbers.prefix(split).enumerated().map { place, number in
            try runner(number, Int32.random(in: -2...2, using: &random), Int64(place))
        }.shuffled(using: &random)
        let candidates = try numbers.dropFirst(split).map(id)

        var (left, waiting) = (running, candidates)
        var expected: [Scheduler.Decision] = []
        while left.count > slots {
            var victim = 0
            for index in left.indices.dropFirst() where isBefore(left[index], left[victim]) {
                victim = index
            }
            expected.append(.displace(left.remove(at: victim).id))
        }
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

    /// Whether `one` has to leave before `other`.
    private func isBefore(_ one: Scheduler.Running, _ other: Scheduler.Running) -> Bool {
        if one.priority != other.priority { return one.priority < other.priority }
        return one.startOrder > other.startOrder
    }

    private func id(_ number: Int64) throws -> TaskID { try #require(TaskID(rawValue: number)) }

    private func runner(
        _ number: Int64,
        _ priority: Int32,
        _ order: Int64
    ) throws -> Scheduler.Running {
        Scheduler.Running(id: try id(number), priority: priority, startOrder: order)
    }
}
