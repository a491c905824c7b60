// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting

@Suite struct RateBudgetTests {
    private static let tasks = (1...4).compactMap { TaskID(rawValue: $0) }
    private let tasks = Self.tasks

    /// Whether a count is what is wanted, within 3 %.
    private func isExact(_ count: Int64?, _ wanted: Int64) -> Bool {
        abs((count ?? 0) - wanted) <= wanted * 3 / 100
    }

    @Test func `without a limit everything goes and nobody waits`() {
        var budget = RateBudget(at: .zero)
        budget.join(tasks[0], limit: 0, at: .zero)
        let stream = RateBudget.Stream(task: tasks[0], number: 1)
        #expect(!budget.isLimited)
        #expect(budget.limit(for: tasks[0]) == nil)
        #expect(budget.take(1 << 40, for: stream, at: .zero) == 1 << 40)
        #expect(!budget.hasWaiters)
        #expect(budget.distribute(at: .seconds(1)).isEmpty)
    }

    @Test func `the lowest limit holds`() {
        var budget = RateBudget(limit: 500, at: .zero)
        for (task, limit) in zip(tasks, [0, 100, 900] as [Int64]) {
            budget.join(task, limit: limit, at: .zero)
        }
        #expect(tasks.map { budget.limit(for: $0) } == [500, 100, 500, 500])
        #expect(tasks.map { budget.share(of: $0) } == [166, 100, 166, 166])
        budget.setLimit(0, at: .zero)
        #expect(tasks.map { budget.limit(for: $0) } == [nil, 100, 900, nil])
        #expect(tasks.map { budget.share(of: $0) } == [nil, 100, 900, nil])
        #expect(budget.isLimited)
        budget.leave(tasks[1])
        budget.setLimit(of: tasks[2], to: 0, at: .zero)
        #expect(!budget.isLimited)
    }

    @Test func `it tells whom it holds back, and whom it held back just now`() {
        var budget = RateBudget(limit: 100_000, at: .zero)
        let streams = tasks.prefix(2).map { RateBudget.Stream(task: $0, number: 1) }
        for task in tasks.prefix(2) { budget.join(task, limit: 0, at: .zero) }
        #expect(!budget.holdsBack(tasks[0], at: .zero))
        #expect(budget.take(16_384, for: streams[0], at: .zero) == 0)
        #expect(budget.holdsBack(tasks[0], at: .seconds(9)))
        #expect(!budget.holdsBack(tasks[1], at: .zero))
        #expect(budget.distribute(at: .seconds(9)) == [streams[0]])
        #expect(budget.holdsBack(tasks[0], at: .seconds(9)))
        #expect(!budget.holdsBack(tasks[0], at: .seconds(10)))
    }

    @Test(
        arguments: [20_000, 100_000, 1_000_000, 30_000_000, 200_000_000] as [Int64],
        [(1, 1), (1, 8), (3, 1), (4, 16)]
    )
    func `ten seconds are exact, and equal for all tasks`(
        _ limit: Int64,
        _ shape: (tasks: Int, connections: Int)
    ) {
        var simulation = RateSimulation(limit: limit)
        for task in tasks.prefix(shape.tasks) {
            simulation.add(task, connections: shape.connections)
        }
        simulation.run(.seconds(10))
        #expect(isExact(simulation.total, limit * 10), "\(simulation.total)")
        for task in tasks.prefix(shape.tasks) {
            #expect(isExact(simulation.passed[task], limit * 10 / Int64(shape.tasks)))
        }
    }

    @Test(arguments: [1_000, 2_000, 6_000, 10_000, 20_000, 1_000_000] as [Int64])
    func `a task with more connections gets no more than another`(_ limit: Int64) {
        var simulation = RateSimulation(limit: limit)
        for (task, connections) in zip(tasks, [1, 8, 1, 3]) {
            simulation.add(task, connections: connections)
        }
        simulation.run(.seconds(60))
        #expect(isExact(simulation.total, limit * 60), "\(simulation.total)")
        for task in tasks {
            #expect(isExact(simulation.passed[task], limit * 15), "\(simulation.passed)")
        }
    }

    @Test(arguments: [1_000, 20_000, 1_000_000, 100_000_000] as [Int64])
    func `a task is held to its own limit, the others are not`(_ limit: Int64) {
        var simulation = RateSimulation()
        simulation.add(tasks[0], connections: 4, limit: limit)
        simulation.add(tasks[1], source: 5_000_000)
        simulation.run(.seconds(20))
        #expect(isExact(simulation.passed[tasks[0]], limit * 20))
        #expect(isExact(simulation.passed[tasks[1]], 100_000_000))
    }

    @Test func `the number of connections brings a task nothing, and they are equal`() {
        var simulation = RateSimulation(limit: 1_000_000)
        simulation.add(tasks[0], connections: 16)
        simulation.add(tasks[1], connections: 1)
        simulation.run(.seconds(10))
        for task in tasks.prefix(2) { #expect(isExact(simulation.passed[task], 5_000_000)) }
        for number in 1...16 {
            let stream = RateBudget.Stream(task: tasks[0], number: number)
            #expect(isExact(simulation.passedByStream[stream], 5_000_000 / 16))
        }
    }

    @Test func `what a slow server leaves goes to the others`() {
        var simulation = RateSimulation(limit: 1_000_000)
        simulation.add(tasks[0], source: 100_000)
        simulation.add(tasks[1])
        simulation.add(tasks[2])
        simulation.run(.seconds(10))
        #expect(isExact(simulation.passed[tasks[0]], 1_000_000))
        #expect(isExact(simulation.passed[tasks[1]], 4_500_000))
        #expect(isExact(simulation.passed[tasks[2]], 4_500_000))
    }

    @Test func `what a task's own limit leaves goes to the others`() {
        var simulation = RateSimulation(limit: 1_000_000)
        simulation.add(tasks[0], connections: 3, limit: 100_000)
        simulation.add(tasks[1], limit: 10_000_000)
        simulation.add(tasks[2])
        simulation.run(.seconds(10))
        #expect(isExact(simulation.passed[tasks[0]], 1_000_000))
        #expect(isExact(simulation.passed[tasks[1]], 4_500_000))
        #expect(isExact(simulation.passed[tasks[2]], 4_500_000))
    }

    @Test func `what nobody can use is not saved up`() {
        var simulation = RateSimulation(limit: 1_000_000)
        simulation.add(tasks[0], source: 100_000)
        simulation.add(tasks[1], source: 200_000)
        simulation.run(.seconds(10))
        #expect(isExact(simulation.total, 3_000_000))
        simulation.remove(tasks[0])
        simulation.remove(tasks[1])
        simulation.run(.seconds(100))
        simulation.add(tasks[2])
        simulation.run(.seconds(10))
        #expect(isExact(simulation.total, 10_000_000))
    }

    @Test func `a change acts at once, in both directions`() {
        var simulation = RateSimulation(limit: 10_000_000)
        simulation.add(tasks[0], connections: 4)
        simulation.add(tasks[1])
        simulation.run(.seconds(5))
        for limit in [1_000_000, 20_000_000, 100_000] as [Int64] {
            simulation.setLimit(limit)
            simulation.run(.seconds(10))
            #expect(isExact(simulation.total, limit * 10), "\(limit): \(simulation.total)")
        }
        simulation.setLimit(0)
        simulation.setLimit(of: tasks[0], to: 2_000_000)
        simulation.run(.seconds(10))
        #expect(isExact(simulation.passed[tasks[0]], 20_000_000))
        #expect((simulation.passed[tasks[1]] ?? 0) > 1_000_000_000)
    }

    @Test func `who waits when the limit goes is let go`() {
        var budget = RateBudget(limit: 1, at: .zero)
        let streams = tasks.map { RateBudget.Stream(task: $0, number: 1) }
        for stream in streams {
            budget.join(stream.task, limit: 1, at: .zero)
            #expect(budget.take(10, for: stream, at: .zero) == 0)
            // Asking once more changes nothing.
            #expect(budget.take(10, for: stream, at: .zero) == 0)
        }
        #expect(budget.hasWaiters)
        budget.setLimit(0, at: .zero)
        #expect(budget.distribute(at: .zero).isEmpty)
        for stream in streams { budget.setLimit(of: stream.task, to: 0, at: .zero) }
        #expect(budget.distribute(at: .zero) == streams)
        #expect(!budget.hasWaiters)
    }

    @Test func `a sharing out that comes late loses nothing`() {
        var simulation = RateSimulation(limit: 1_000_000)
        for task in tasks { simulation.add(task, connections: 2) }
        simulation.run(.seconds(20), lateness: .milliseconds(900))
        #expect(abs(simulation.total - 20_000_000) < 1_500_000, "\(simulation.total)")
        simulation.run(.seconds(60), lateness: .milliseconds(900))
        #expect(isExact(simulation.total, 60_000_000), "\(simulation.total)")
    }

    @Test func `a clock that stands or goes back brings nothing and breaks nothing`() {
        var budget = RateBudget(limit: 1000, at: .seconds(10))
        let stream = RateBudget.Stream(task: tasks[0], number: 1)
        budget.join(tasks[0], limit: 0, at: .seconds(10))
        #expect(budget.take(1000, for: stream, at: .seconds(10)) == 0)
        #expect(budget.distribute(at: .seconds(10)).isEmpty)
        #expect(budget.distribute(at: .seconds(5)).isEmpty)
        #expect(budget.distribute(at: .seconds(11)) == [stream])
        #expect(budget.take(1000, for: stream, at: .seconds(11)) == 1000)
    }

    @Test func `nobody is woken up for a few bytes`() {
        var budget = RateBudget(limit: 100, at: .zero)
        let streams = (1...3).map { RateBudget.Stream(task: tasks[0], number: $0) }
        budget.join(tasks[0], limit: 0, at: .zero)
        for stream in streams { #expect(budget.take(5000, for: stream, at: .zero) == 0) }
        var woken: [RateBudget.Stream] = []
        for second in 1...10 {
            for stream in budget.distribute(at: .seconds(second)) {
                woken.append(stream)
                #expect(budget.take(5000, for: stream, at: .seconds(second)) == 300)
            }
        }
        // Each when there is enough for one, in turn.
        #expect(woken == streams)
    }

    @Test func `who leaves leaves what it had, and waits no longer`() {
        var budget = RateBudget(limit: 10_000, at: .zero)
        let first = RateBudget.Stream(task: tasks[0], number: 1)
        let second = RateBudget.Stream(task: tasks[1], number: 1)
        for stream in [first, second] {
            budget.join(stream.task, limit: 0, at: .zero)
            #expect(budget.take(5000, for: stream, at: .zero) == 0)
        }
        #expect(budget.distribute(at: .seconds(1)) == [first, second])
        budget.leave(first)
        #expect(budget.take(5000, for: second, at: .seconds(1)) == 5000)
        #expect(budget.take(1000, for: second, at: .seconds(1)) == 1000)
        #expect(budget.take(10_000, for: second, at: .seconds(1)) == 0)
        budget.leave(tasks[1])
        #expect(!budget.hasWaiters)
        // A task that is not here is not held.
        #expect(budget.take(10_000, for: second, at: .seconds(1)) == 10_000)
    }

    @Test func `what could not be used is given back`() {
        var budget = RateBudget(limit: 100_000, at: .zero)
        let stream = RateBudget.Stream(task: tasks[0], number: 1)
        budget.join(tasks[0], limit: 100_000, at: .zero)
        #expect(budget.take(10_000, for: stream, at: .seconds(1)) == 10_000)
        budget.giveBack(10_000, for: stream)
        #expect(budget.take(10_000, for: stream, at: .seconds(1)) == 10_000)
        #expect(budget.take(1, for: stream, at: .seconds(1)) == 0)
    }

    @Test(arguments: [Int64.max, .max - 1, 1 << 62, -1, .min])
    func `no number traps`(_ limit: Int64) {
        var simulation = RateSimulation(limit: limit)
        simulation.add(tasks[0], connections: 2, limit: limit)
        simulation.add(tasks[1], limit: .max)
        simulation.run(.milliseconds(100))
        simulation.setLimit(.max)
        simulation.setLimit(of: tasks[0], to: limit)
        simulation.run(.milliseconds(100))
        #expect(simulation.total > 0)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `by chance: never more than the limit, never less than is wanted`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var simulation = RateSimulation(seed: seed)
        var sources: [Int64?] = []
        for task in tasks {
            let source =
                Bool.random(using: &generator)
                ? nil : Int64.random(in: 1_000...2_000_000, using: &generator)
            let connections = Int.random(in: 1...6, using: &generator)
            sources.append(source.map { $0 * Int64(connections) })
            simulation.add(task, connections: connections, source: source)
        }
        for _ in 0..<3 {
            let limit = Int64.random(in: 50_000...5_000_000, using: &generator)
            let own = tasks.map { _ in
                Bool.random(using: &generator)
                    ? 0 : Int64.random(in: 20_000...2_000_000, using: &generator)
            }
            simulation.setLimit(limit)
            for (task, limit) in zip(tasks, own) { simulation.setLimit(of: task, to: limit) }
            // What has arrived and waits is gone first.
            simulation.run(.seconds(10))
            #expect(simulation.total <= limit * 1030 / 100, "seed \(seed)")
            for (task, limit) in zip(tasks, own) where limit > 0 {
                #expect((simulation.passed[task] ?? 0) <= limit * 1030 / 100, "seed \(seed)")
            }
            let wants = zip(sources, own).map { source, own in
                [source, own == 0 ? nil : own].compactMap(\.self).min()
            }
            let wanted = wants.reduce(0) { sum, want in sum + (want ?? limit) }
            #expect(simulation.total >= min(limit, wanted) * 970 / 100, "seed \(seed)")
            // Nobody who wants more has less than another.
            let passed = tasks.map { simulation.passed[$0] ?? 0 }
            let open = zip(passed, wants).filter { $0.1 == nil }.map(\.0)
            if let low = open.min(), let high = passed.max() {
                #expect(low >= high * 97 / 100, "seed \(seed)")
            }
        }
    }
}
