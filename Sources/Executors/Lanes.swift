// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A few threads that share one line of work; without work there are none.
///
/// Each lane is a serial dispatch queue. Dispatch watches the threads of its concurrent and global
/// queues: from the first such thread on, it wakes the process every second to see whether they run
/// (`_dispatch_workq_monitor_pools`). It does not watch serial queues. So nothing in a process that
/// is to sleep may use a concurrent or global queue, and Swift's tasks run on lanes. `QuietTests`
/// fails when the wake-ups come back.
///
/// What blocks holds up its own lane; the others go on with all that waits.
package final class Lanes<Work: Sendable>: Sendable {
    private struct State: Sendable {
        var line = PriorityLine<Work>()
        /// The lanes that nobody is in.
        var free: [Int]
    }

    private let queues: [DispatchQueue]
    private let perform: @Sendable (Work) -> Void
    private let state: Mutex<State>

    /// Makes lanes that are free.
    ///
    /// - Parameters:
    ///   - count: at least one; so much is under way at a time.
    ///   - label: tells the queues in a debugger.
    ///   - perform: does a piece of work; may block.
    package init(count: Int, label: String, perform: @escaping @Sendable (Work) -> Void) {
        precondition(count > 0, "lanes without a lane")
        queues = (0..<count).map { DispatchQueue(label: "\(label).\($0)") }
        self.perform = perform
        state = Mutex(State(free: Array((0..<count).reversed())))
    }

    /// Has work done as soon as a lane is free; returns at once.
    ///
    /// - Parameters:
    ///   - work: is begun in the order of these calls, but after all of a higher priority.
    ///   - priority: the higher, the sooner.
    package func submit(_ work: Work, priority: UInt8 = 0) {
        let lane = state.withLock { state in
            state.line.append(work, priority: priority)
            return state.free.popLast()
        }
        guard let lane else { return }
        queues[lane].async { self.work(in: lane) }
    }

    private func work(in lane: Int) {
        while let work = next(in: lane) { perform(work) }
    }

    /// The next piece of work; the lane is free where there is none.
    private func next(in lane: Int) -> Work? {
        state.withLock { state in
            let work = state.line.popFirst()
            if work == nil { state.free.append(lane) }
            return work
        }
    }
}
