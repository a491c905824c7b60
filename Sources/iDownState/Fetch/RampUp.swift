// SPDX-License-Identifier: Apache-2.0

/// How many connections a transfer wants: more as long as more bring more.
///
/// One, two, four, eight, a step at a time; a step that after two seconds has not brought a tenth
/// more is taken back, and taken again where that costs a tenth: many hosts let the first seconds
/// pass faster than the rest, so that what was there before a step says too much. Whoever knows the
/// number, a person or experience with the host, begins with it and nothing is tried.
package struct RampUp: Hashable, Sendable {
    /// Below this a further connection costs more than it saves.
    package static let smallestRest: Int64 = 1 << 20
    /// What is done sooner than this needs no further connection.
    package static let shortestTime: Duration = .seconds(2)
    /// The least time between two steps.
    static let shortestStep: Duration = .milliseconds(100)
    /// After this time a step must have shown what it brings.
    static let trial: Duration = .seconds(2)
    /// How much more a step has to bring.
    static let worthwhile = 1.1

    /// What can be seen of the transfer at one moment.
    package struct Reading: Hashable, Sendable {
        /// Connections that bring bytes.
        package var open: Int
        /// Connections whose head is awaited.
        package var pending: Int
        /// All of them together; nil while it is too early to say.
        package var bytesPerSecond: Int64?
        package var bytesLeft: Int64
        /// How long a request waits for its head.
        package var headTime: Duration
        /// Whether something other than the line and the server sets the pace.
        package var isThrottled: Bool

        package init(
            open: Int,
            pending: Int,
            bytesPerSecond: Int64?,
            bytesLeft: Int64,
            headTime: Duration,
            isThrottled: Bool = false
        ) {
            self.open = open
            self.pending = pending
            self.bytesPerSecond = bytesPerSecond
            self.bytesLeft = bytesLeft
            self.headTime = headTime
            self.isThrottled = isThrottled
        }
    }

    private struct Step: Hashable, Sendable {
        let from: Int
        let bytesPerSecond: Int64
    }

    /// How many connections are wanted now.
    package private(set) var wanted: Int
    /// The number that the trial has found to be of use; nil while it is not over, and where
    /// nothing was tried.
    package private(set) var finding: Int?
    /// The steps that are not judged yet, the last one at the end.
    private var steps: [Step] = []
    /// What was there before the last step was taken back; nil once it is known what that costs.
    private var retreat: Step?
    private var lastChange: Duration
    private var isSettled: Bool

    /// - Parameters:
    ///   - known: the number to begin with, and to stay with unless there may be more; nil tries
    ///     from one on.
    ///   - now: any clock's reading that only goes forward.
    package init(known: UsefulConnections?, at now: Duration) {
        wanted = max(1, known?.count ?? 1)
        isSettled = known?.mayBeMore == false
        lastChange = now
    }

    /// Somebody has chosen another number, which holds at once; nil leaves it to the trial, which
    /// goes on from here.
    package mutating func choose(_ number: Int?, at now: Duration) {
        if let number { wanted = max(1, number) }
        isSettled = number != nil
        steps = []
        retreat = nil
        lastChange = now
    }

    /// Takes a step, takes one back, or waits.
    package mutating func advance(_ reading: Reading, ceiling: Int, at now: Duration) {
        guard reading.pending == 0, !reading.isThrottled else { return }
        if !isSettled, shouldStep(reading, ceiling: ceiling, at: now) {
            steps.append(Step(from: wanted, bytesPerSecond: reading.bytesPerSecond ?? 0))
            wanted = min(wanted * 2, ceiling)
            lastChange = now
            return
        }
        guard now - lastChange >= Self.trial, retreat != nil || !steps.isEmpty else { return }
        guard let rate = reading.bytesPerSecond else { return }
        // Who told only by the ceiling when to stop goes on when it rises.
        isSettled = isSettled || wanted < ceiling
        if let retreat {
            self.retreat = nil
            if Self.isWorthwhile(retreat.bytesPerSecond, rate) {
                wanted = min(retreat.from, ceiling)
                steps = []
                lastChange = now
            }
        }
        guard let step = steps.popLast() else {
            finding = wanted
            return
        }
        if Self.isWorthwhile(rate, step.bytesPerSecond) {
            // What the steps before it brought is in what it was held against.
            steps = []
            finding = wanted
        } else {
            retreat = Step(from: wanted, bytesPerSecond: rate)
            isSettled = true
            wanted = step.from
            lastChange = now
        }
    }

    /// Whether one rate is enough above another.
    private static func isWorthwhile(_ rate: Int64, _ other: Int64) -> Bool {
        Double(rate) >= Double(other) * worthwhile
    }

    private func shouldStep(_ reading: Reading, ceiling: Int, at now: Duration) -> Bool {
        guard wanted < ceiling, reading.open >= wanted else { return false }
        guard now - lastChange >= max(Self.shortestStep, reading.headTime) else { return false }
        return Self.isLongEnough(reading)
    }

    /// Whether there is enough left for a further connection to be of use.
    package static func isLongEnough(_ reading: Reading) -> Bool {
        guard reading.bytesLeft > smallestRest else { return false }
        guard let rate = reading.bytesPerSecond, rate > 0 else { return true }
        return Double(reading.bytesLeft) / Double(rate) > shortestTime / .seconds(1)
    }
}
