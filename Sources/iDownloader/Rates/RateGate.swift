// SPDX-License-Identifier: Apache-2.0

import Synchronization
import iDownState

/// Holds all connections to the limits, and lets them go on in turn.
///
/// On the transfer thread a connection asks through its `RateValve` and is paused where it may not
/// go on; nothing waits there. One task shares out and resumes, only as long as anybody waits:
/// without a limit there is no wake-up, and no lock is taken.
final class RateGate: Sendable {
    /// How often is shared out: smooth to the eye, and 50 kB of each MB/s at a time.
    static let interval: Duration = .milliseconds(50)

    /// A connection from its beginning to its end.
    private struct Line {
        /// Nil until its request is known: bytes may come before that.
        var resume: (@Sendable () -> Void)?
        /// Its turn has come meanwhile.
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
    ///   - now: a clock that only goes forward.
    ///   - wait: returns when it is time to share out again.
    init(now: @escaping @Sendable () -> Duration, wait: @escaping @Sendable () async -> Void) {
        state = Mutex(State(budget: RateBudget(at: now())))
        self.now = now
        self.wait = wait
    }

    /// By the system's clock, which stands still during sleep as the network does.
    convenience init() {
        let start = SuspendingClock.now
        self.init(
            now: { start.duration(to: .now) },
            // Nobody cancels it; it ends when nobody waits any more.
            wait: { try? await Task.sleep(for: Self.interval) }
        )
    }

    // MARK: Limits

    /// Another limit over all tasks, in bytes a second; 0 for none.
    func setLimit(_ limit: Int64) {
        change { $0.setLimit(limit, at: now()) }
    }

    /// Another limit for a task that runs; nothing for any other.
    func setLimit(of task: TaskID, to limit: Int64) {
        change { $0.setLimit(of: task, to: limit, at: now()) }
    }

    func join(_ task: TaskID, limit: Int64) {
        change { $0.join(task, limit: limit, at: now()) }
    }

    func leave(_ task: TaskID) {
        change { $0.leave(task) }
    }

    /// The lowest limit that holds for a task now, in bytes a second; nil for none.
    func limit(for task: TaskID) -> Int64? {
        guard limits.load(ordering: .relaxed) else { return nil }
        return state.withLock { $0.budget.limit(for: task) }
    }

    /// What a task gets, in bytes a second, while all others take theirs too; nil for no limit.
    func share(of task: TaskID) -> Int64? {
        guard limits.load(ordering: .relaxed) else { return nil }
        return state.withLock { $0.budget.share(of: task) }
    }

    /// Whether a limit, and not the line or the server, is what a task waits for.
    func holdsBack(_ task: TaskID) -> Bool {
        guard limits.load(ordering: .relaxed) else { return false }
        return state.withLock { $0.budget.holdsBack(task, at: now()) }
    }

    private func change(_ body: (inout RateBudget) -> Void) {
        state.withLock { state in
            body(&state.budget)
            // Under the lock, so that of two changes the later one is what is seen.
            limits.store(state.budget.isLimited, ordering: .relaxed)
        }
    }

    // MARK: Connections

    /// The way of one more connection of a task through this gate, until it is disconnected.
    func valve(for task: TaskID) -> RateValve {
        let stream = state.withLock { state in
            state.lastNumber += 1
            let stream = RateBudget.Stream(task: task, number: state.lastNumber)
            state.lines[stream] = Line()
            return stream
        }
        return RateValve(self, stream)
    }

    /// Says how the connection is resumed; nothing for one that is over.
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

    /// As many of `count` bytes as may go; with less than all of them the connection waits, and
    /// is resumed when its turn comes.
    func take(_ count: Int, for stream: RateBudget.Stream) -> Int {
        guard limits.load(ordering: .relaxed) else { return count }
        return state.withLock { state in
            // It is over: nobody could resume it.
            guard state.lines[stream] != nil else { return count }
            let taken = state.budget.take(count, for: stream, at: now())
            if taken < count, state.sharing == nil { state.sharing = Task { await share() } }
            return taken
        }
    }

    func giveBack(_ count: Int, for stream: RateBudget.Stream) {
        state.withLock { $0.budget.giveBack(count, for: stream) }
    }

    /// Shares out until nobody waits any more.
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
