// SPDX-License-Identifier: Apache-2.0

import DBus
import Synchronization
import iDownState
import iDownTesting

@testable import iDownloader

/// One run of the service in a simulation, from its start to its end.
///
/// Everything that it asks of the world outside passes by here first: with a fuse it dies at the
/// n-th question, in the middle of whatever it does, and nothing that it asks later happens.
final class Life: Sendable {
    private struct State {
        var isDead = false
        var isOver = false
        var fuse: Int?
        var questions = 0
    }

    private let state = Mutex(State())
    private let thread: QueueExecutor?

    /// - Parameter thread: where everything runs; nil before anything does.
    init(on thread: QueueExecutor? = nil) { self.thread = thread }

    /// Whether the process is gone: the rest of it does not know yet, and cannot do any harm.
    var isDead: Bool { state.withLock { $0.isDead } }

    /// Whether what is left of it may unwind.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// How much was asked of the world so far.
    var questions: Int { state.withLock { $0.questions } }

    /// Counts a question to the world.
    ///
    /// - Returns: whether the process still lives to hear the answer.
    @discardableResult
    func ask() -> Bool {
        // Beside it nothing may run, or no run of a seed would be like the other.
        thread?.checkIsolated()
        return state.withLock { state in
            state.questions += 1
            if let fuse = state.fuse {
                state.fuse = fuse - 1
                if fuse <= 1 { state.isDead = true }
            }
            return !state.isDead
        }
    }

    func die() { state.withLock { $0.isDead = true } }

    /// It dies at the n-th question from now on.
    func light(fuse: Int) { state.withLock { $0.fuse = fuse } }

    /// It lives on, if it still does.
    func cutFuse() { state.withLock { $0.fuse = nil } }

    func end() { state.withLock { $0.isOver = true } }
}

/// Clocks that stand still until somebody moves them, and dice that fall as their seed says.
final class SimulatedTime: Sendable {
    typealias Instant = TimeAndChance.Instant

    private struct Sleeper {
        let number: Int
        let deadline: Instant
        let life: Life
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Instant
        var calendar: Duration = .seconds(1_770_000_000)
        var dice: SeededGenerator
        var lastNumber = 0
        var cancelled: Set<Int> = []
        /// In the order in which they wake up.
        var sleepers: [Sleeper] = []
    }

    private static let start = Instant.now
    private let state: Mutex<State>

    init(seed: UInt64) {
        state = Mutex(State(now: Self.start, dice: SeededGenerator(seed: seed)))
    }

    func dice() -> UInt64 { state.withLock { $0.dice.next() } }

    /// Since the beginning.
    var elapsed: Duration { state.withLock { $0.now - Self.start } }

    /// The clocks as one run of the service sees them.
    func seen(by life: Life) -> TimeAndChance {
        TimeAndChance(
            readCalendar: { [self] in
                state.withLock { state in
                    let date = state.calendar + (state.now - Self.start)
                    return WallTime(microseconds: date.wholeMicroseconds)
                }
            },
            readClock: { [self] in state.withLock { $0.now } },
            wait: { [self] in try await sleep(until: $0, life) },
            roll: { [self] in dice() }
        )
    }

    /// Somebody sets the calendar.
    func setCalendar(by offset: Duration) { state.withLock { $0.calendar += offset } }

    /// Lets time pass, but not beyond the next that wakes up.
    ///
    /// - Returns: whether anybody woke up.
    @discardableResult
    func pass(_ time: Duration) -> Bool {
        let woken: CheckedContinuation<Void, any Error>? = state.withLock { state in
            let target = state.now + time
            let place = state.sleepers.firstIndex { !$0.life.isDead }
            guard let place, state.sleepers[place].deadline <= target else {
                state.now = target
                return nil
            }
            let sleeper = state.sleepers.remove(at: place)
            state.now = max(state.now, sleeper.deadline)
            return sleeper.continuation
        }
        woken?.resume()
        return woken != nil
    }

    /// Ends all waiting of a run that is over.
    func abandon(_ life: Life) {
        life.end()
        let sleepers = state.withLock { state in
            let sleepers = state.sleepers.filter { $0.life === life }
            state.sleepers.removeAll { $0.life === life }
            return sleepers
        }
        for sleeper in sleepers { sleeper.continuation.resume(throwing: CancellationError()) }
    }

    private func sleep(until deadline: Instant, _ life: Life) async throws {
        life.ask()
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.cancelled.remove(number) != nil || life.isOver { return true }
                    let sleeper = Sleeper(
                        number: number,
                        deadline: deadline,
                        life: life,
                        continuation: continuation
                    )
                    let place = state.sleepers.firstIndex { $0.deadline > deadline }
                    state.sleepers.insert(sleeper, at: place ?? state.sleepers.endIndex)
                    return false
                }
                if isOver { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func cancel(_ number: Int) {
        let sleeper = state.withLock { state -> Sleeper? in
            guard let place = state.sleepers.firstIndex(where: { $0.number == number }) else {
                state.cancelled.insert(number)
                return nil
            }
            return state.sleepers.remove(at: place)
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
