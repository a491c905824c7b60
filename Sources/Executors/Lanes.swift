// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A fixed number of lanes that share one queue of work; idle lanes have no thread.
///
/// Each lane is a serial dispatch queue. Dispatch monitors the threads of concurrent and global
/// queues: once such a thread exists, it wakes the process every second to see whether the threads
/// run (`_dispatch_workq_monitor_pools`). Dispatch does not monitor serial queues. A process that
/// is to sleep must therefore use no concurrent or global queue, and Swift's tasks run on lanes.
/// `QuietTests` fails if the wake-ups come back.
///
/// Work that blocks holds up its own lane; the other lanes take the rest of the queue.
package final class Lanes<Work: Sendable>: Sendable {
    private struct State: Sendable {
        var line = PriorityLine<Work>()
        /// The lanes that run no work.
        var free: [Int]
    }

    private let queues: [DispatchQueue]
    private let perform: @Sendable (Work) -> Void
    private let state: Mutex<State>

    /// Creates idle lanes.
    ///
    /// - Parameters:
    ///   - count: The number of lanes, at least 1: so many pieces of work run at the same time.
    ///   - label: The prefix of the queues' names in a debugger.
    ///   - perform: Does one piece of work; it may block.
    package init(count: Int, label: String, perform: @escaping @Sendable (Work) -> Void) {
        precondition(count > 0, "lanes without a lane")
        queues = (0..<count).map { DispatchQueue(label: "\(label).\($0)") }
        self.perform = perform
        state = Mutex(State(free: Array((0..<count).reversed())))
    }

    /// Queues work for the next free lane and returns immediately.
    ///
    /// - Parameters:
    ///   - work: The work. It starts after all earlier work of the same or a higher priority.
    ///   - priority: Work with a higher number starts first.
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

    /// Returns the next piece of work; nil, and the lane is free, if the queue is empty.
    private func next(in lane: Int) -> Work? {
        state.withLock { state in
            let work = state.line.popFirst()
            if work == nil { state.free.append(lane) }
            return work
        }
    }
}
