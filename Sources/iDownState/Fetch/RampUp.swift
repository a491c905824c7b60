// SPDX-License-Identifier: Apache-2.0

/// How many connections a transfer wants: more for as long as more make it faster.
///
/// The number doubles in steps from one. A step that has not raised the rate by a tenth after two
/// seconds is taken back. If that lowers the rate by a tenth, the step is made again: many hosts
/// are faster in the first seconds, so the rate before a step can be too high to compare with. A
/// number that the user chose, or that is known from the host, is used from the start. A trial then
/// follows only where the host may serve more.
package struct RampUp: Hashable, Sendable {
    /// With fewer bytes left than this (1 MiB) a further connection costs more than it saves.
    package static let smallestRest: Int64 = 1 << 20
    /// A transfer that ends sooner than this needs no further connection.
    package static let shortestTime: Duration = .seconds(2)
    /// The least time between two steps.
    static let shortestStep: Duration = .milliseconds(100)
    /// How long after a step its effect is measured.
    static let trial: Duration = .seconds(2)
    /// The factor by which a step has to raise the rate.
    static let worthwhile = 1.1

    /// The state of the transfer at one moment.
    package struct Reading: Hashable, Sendable {
        /// How many connections bring bytes.
        package var open: Int
        /// How many connections wait for the head of their answer.
        package var pending: Int
        /// The rate of all connections together; nil while it is too early to say.
        package var bytesPerSecond: Int64?
        package var bytesLeft: Int64
        /// How long a request waits for its head.
        package var headTime: Duration
        /// Whether a rate limit, not the network or the server, sets the pace.
        package var isThrottled = false
    }

    private struct Step: Hashable, Sendable {
        let from: Int
        let bytesPerSecond: Int64
    }

    /// How many connections are wanted now.
    package private(set) var wanted: Int
    /// The number that the trial found useful; nil before the trial is over, and where there was
    /// none.
    package private(set) var finding: Int?
    /// The steps whose effect is not known yet, the latest last.
    private var steps: [Step] = []
    /// The number and the rate before the last step was taken back; nil once its effect is known.
    private var retreat: Step?
    private var lastChange: Duration
    private var isSettled: Bool

    /// - Parameters:
    ///   - known: the number to begin with. It is final unless `mayBeMore` is set; nil begins with
    ///     one.
    ///   - now: a reading of a clock that only goes forward.
    package init(known: UsefulConnections?, at now: Duration) {
        wanted = max(1, known?.count ?? 1)
        isSettled = known?.mayBeMore == false
        lastChange = now
    }

    /// Takes a number that the user chose, effective immediately; nil continues the trial from the
    /// current number.
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
        // A trial that only the ceiling stopped continues when the ceiling rises.
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
            // The rate before this step already includes what the earlier steps brought.
            steps = []
            finding = wanted
        } else {
            retreat = Step(from: wanted, bytesPerSecond: rate)
            isSettled = true
            wanted = step.from
            lastChange = now
        }
    }

    /// Whether the first rate is enough above the other to be worth a step.
    private static func isWorthwhile(_ rate: Int64, _ other: Int64) -> Bool {
        Double(rate) >= Double(other) * worthwhile
    }

    /// Whether more connections are allowed, and enough bytes and time are left for them to be
    /// useful.
    private func shouldStep(_ reading: Reading, ceiling: Int, at now: Duration) -> Bool {
        guard wanted < ceiling, reading.open >= wanted, reading.bytesLeft > Self.smallestRest,
            now - lastChange >= max(Self.shortestStep, reading.headTime)
        else { return false }
        guard let rate = reading.bytesPerSecond, rate > 0 else { return true }
        return Double(reading.bytesLeft) / Double(rate) > Self.shortestTime / .seconds(1)
    }
}
