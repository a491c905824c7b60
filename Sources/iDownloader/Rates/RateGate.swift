// SPDX-License-Identifier: Apache-2.0

import Synchronization
import iDownState

/// Enforces the rate limits on all connections, and resumes paused connections in turn.
///
/// On the transfer thread a connection asks through its `RateValve` and is paused if it may not go
/// on, so that the thread never waits. One Swift task distributes bytes and resumes connections
/// while any are paused. Without a limit there is no wake-up, and no lock is taken.
final class RateGate: Sendable {
    /// The interval at which bytes are distributed: it looks smooth, and gives 50 kB at a time for
    /// each MB/s.
    static let interval: Duration = .milliseconds(50)

    /// The state of an open connection.
    private struct Line {
        /// Resumes the connection; nil until its request is known, which can be after the first
        /// bytes.
        var resume: (@Sendable () -> Void)?
        /// Whether the connection is to be resumed as soon as its request is known.
        var isCalled = false
    }

    private struct State {
        var budget: RateBudget
        var lines: [RateBudget.Stream: Line] = [:]
        var lastNumber = 0
        var sharing: Task<Void, Never>?
    }

    private let state: Mutex<State>
    private let limits = Atomic<Bool>(false)
    private let now: @Sendable () -> Duration
    private let wait: @Sendable () async -> Void

    /// - Parameters:
    ///   - now: returns the time of a monotonic clock.
    ///   - wait: returns when it is time to distribute bytes again.
    init(now: @escaping @Sendable () -> Duration, wait: @escaping @Sendable () async -> Void) {
        state = Mutex(State(budget: RateBudget(at: now())))
        self.now = now
        self.wait = wait
    }

    /// Uses the system's clock that stops during sleep, as the network does.
    convenience init() {
        let start = SuspendingClock.now
        self.init(
            now: { start.duration(to: .now) },
            // The task is never cancelled; it ends when no connection is paused.
            wait: { try? await Task.sleep(for: Self.interval) }
        )
    }

    // MARK: Limits

    /// Sets the limit for all tasks together, in bytes a second; 0 means none.
    func setLimit(_ limit: Int64) { change { $0.setLimit(limit, at: now()) } }

    /// Sets the limit of a running task; does nothing for any other task.
    func setLimit(of task: TaskID, to limit: Int64) {
        change { $0.setLimit(of: task, to: limit, at: now()) }
    }

    func join(_ task: TaskID, limit: Int64) { change { $0.join(task, limit: limit, at: now()) } }

    func leave(_ task: TaskID) { change { $0.leave(task) } }

    /// Returns the lowest limit that applies to a task now, in bytes a second; nil for none.
    func limit(for task: TaskID) -> Int64? { ifLimited { $0.limit(for: task) } }

    /// Returns the share of a task in bytes a second if all tasks use theirs; nil for no limit.
    func share(of task: TaskID) -> Int64? { ifLimited { $0.share(of: task) } }

    /// Whether a limit, rather than the line or the server, slows a task down.
    func holdsBack(_ task: TaskID) -> Bool { ifLimited { $0.holdsBack(task, at: now()) } ?? false }

    private func ifLimited<Value: Sendable>(_ read: (RateBudget) -> Value?) -> Value? {
        limits.load(ordering: .relaxed) ? state.withLock { read($0.budget) } : nil
    }

    private func change(_ body: (inout RateBudget) -> Void) {
        state.withLock { state in
            body(&state.budget)
            // Stored under the lock, so that the later of two changes wins.
            limits.store(state.budget.isLimited, ordering: .relaxed)
        }
    }

    // MARK: Connections

    /// Returns the valve for a new connection of a task, valid until it is disconnected.
    func valve(for task: TaskID) -> RateValve {
        let stream = state.withLock { state in
            state.lastNumber += 1
            let stream = RateBudget.Stream(task: task, number: state.lastNumber)
            state.lines[stream] = Line()
            return stream
        }
        return RateValve(self, stream)
    }

    /// Sets how the connection is resumed; does nothing if the connection is over.
    func connect(_ stream: RateBudget.Stream, _ resume: @escaping @Sendable () -> Void) {
        let isCalled = state.withLock { state in
            state.lines[stream]?.resume = resume
            return state.lines[stream]?.isCalled ?? false
        }
        if isCalled { resume() }
    }

    func disconnect(_ stream: RateBudget.Stream) {
        state.withLock { state in
            state.lines[stream] = nil
            state.budget.leave(stream)
        }
    }

    /// Returns how many of `count` bytes may pass; if fewer than all, resumes the connection later.
    func take(_ count: Int, for stream: RateBudget.Stream) -> Int {
        guard limits.load(ordering: .relaxed) else { return count }
        return state.withLock { state in
            // The connection is over and could not be resumed.
            guard state.lines[stream] != nil else { return count }
            let taken = state.budget.take(count, for: stream, at: now())
            if taken < count, state.sharing == nil { state.sharing = Task { await share() } }
            return taken
        }
    }

    func giveBack(_ count: Int, for stream: RateBudget.Stream) {
        state.withLock { $0.budget.giveBack(count, for: stream) }
    }

    /// Distributes bytes until no connection waits.
    private func share() async {
        var isOver = false
        while !isOver {
            await wait()
            var resumptions: [@Sendable () -> Void] = []
            state.withLock { state in
                for stream in state.budget.distribute(at: now()) {
                    if let resume = state.lines[stream]?.resume {
                        resumptions.append(resume)
                    } else {
                        state.lines[stream]?.isCalled = true
                    }
                }
                isOver = !state.budget.hasWaiters
                if isOver { state.sharing = nil }
            }
            for resume in resumptions { resume() }
        }
    }
}
