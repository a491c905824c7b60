// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct HistoryTests {
    private static func entry(_ number: Int) -> History.Entry {
        History.Entry(
            .asked,
            connection: number,
            ["host": .text("example.org")],
            at: WallTime(microseconds: Int64(number))
        )
    }

    private static func task(_ number: Int) throws -> TaskID {
        try #require(TaskID(rawValue: Int64(number)))
    }

    @Test func `the last two hundred entries of a task are kept, the oldest first`() throws {
        var history = History()
        let task = try Self.task(1)
        for number in 1...250 { history.add(Self.entry(number), of: task) }
        #expect(history.entries(of: task) == (51...250).map(Self.entry))
        #expect(history.count == 200)
    }

    @Test func `beyond twenty thousand the task goes that was silent for longest`() throws {
        var history = History()
        for number in 1...100 {
            for _ in 0..<200 { history.add(Self.entry(number), of: try Self.task(number)) }
        }
        #expect(history.count == 20_000)
        history.add(Self.entry(1), of: try Self.task(1))
        history.add(Self.entry(101), of: try Self.task(101))
        #expect(history.entries(of: try Self.task(1)).count == 200)
        #expect(history.entries(of: try Self.task(2)).isEmpty)
        #expect(history.count == 19_801)
    }

    @Test func `what is over is forgotten`() throws {
        var history = History()
        let task = try Self.task(7)
        history.add(Self.entry(1), of: task)
        history.forget(task)
        history.forget(task)
        #expect(history.entries(of: task).isEmpty)
        #expect(history.count == 0)
    }
}
