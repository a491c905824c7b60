// SPDX-License-Identifier: Apache-2.0

import iDownState
import iDownTesting

/// Connections and their servers around a budget, in a time of its own.
struct RateSimulation {
    /// One connection: what its server brings, and what went through.
    private struct Line {
        let stream: RateBudget.Stream
        /// Bytes a second; nil for as many as are asked for.
        let source: Int64?
        var arrived: Double = 0
        var isWaiting = false
    }

    var budget: RateBudget
    private(set) var time: Duration = .seconds(1000)
    /// What went through, by task.
    private(set) var passed: [TaskID: Int64] = [:]
    private(set) var passedByStream: [RateBudget.Stream: Int64] = [:]
    private var lines: [Line] = []
    private var nextSharing: Duration
    private var generator: SeededGenerator

    /// libcurl's pieces.
    private static let piece = 16 << 10

    init(limit: Int64 = 0, seed: UInt64 = 1) {
        budget = RateBudget(limit: limit, at: time)
        nextSharing = time
        generator = SeededGenerator(seed: seed)
    }

    /// Adds a task whose connections get `source` bytes a second each.
    mutating func add(
        _ task: TaskID,
        connections: Int = 1,
        source: Int64? = nil,
        limit: Int64 = 0
    ) {
        budget.join(task, limit: limit, at: time)
        for number in 1...connections {
            lines.append(Line(stream: .init(task: task, number: number), source: source))
        }
    }

    mutating func remove(_ task: TaskID) {
        budget.leave(task)
        lines.removeAll { $0.stream.task == task }
    }

    mutating func setLimit(_ limit: Int64) { budget.setLimit(limit, at: time) }

    mutating func setLimit(of task: TaskID, to limit: Int64) {
        budget.setLimit(of: task, to: limit, at: time)
    }

    /// Lets time go by.
    ///
    /// - Parameters:
    ///   - duration: how much of it.
    ///   - lateness: the most that a sharing out comes late, by chance.
    mutating func run(_ duration: Duration, lateness: Duration = .milliseconds(10)) {
        let end = time + duration
        // Shorter than the sharing out, longer than a test has time for.
        let step: Duration = .milliseconds(5)
        passed = [:]
        passedByStream = [:]
        while time < end {
            time += step
            if time >= nextSharing {
                share()
                let late = Int.random(in: 0...1000, using: &generator)
                nextSharing = time + .milliseconds(50) + lateness * late / 1000
            }
            // Who comes first is chance.
            for index in lines.indices.shuffled(using: &generator) {
                if let source = lines[index].source {
                    lines[index].arrived += Double(source) / 200
                } else {
                    lines[index].arrived = 1e12
                }
                drain(index)
            }
        }
    }

    private mutating func share() {
        for stream in budget.distribute(at: time) {
            guard let index = lines.firstIndex(where: { $0.stream == stream }) else { continue }
            lines[index].isWaiting = false
        }
    }

    private mutating func drain(_ index: Int) {
        var pieces = 0
        while !lines[index].isWaiting, lines[index].arrived >= 1, pieces < 200 {
            let count = min(Self.piece, Int(lines[index].arrived))
            let stream = lines[index].stream
            let taken = budget.take(count, for: stream, at: time)
            precondition((0...count).contains(taken))
            lines[index].arrived -= Double(taken)
            passed[stream.task, default: 0] += Int64(taken)
            passedByStream[stream, default: 0] += Int64(taken)
            if taken < count { lines[index].isWaiting = true }
            pieces += 1
        }
    }

    var total: Int64 { passed.values.reduce(0, +) }
}
