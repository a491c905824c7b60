// SPDX-License-Identifier: Apache-2.0

import iDownState

/// When which task is to be tried again, on a clock that runs during sleep.
struct BackOffs {
    typealias Instant = ContinuousClock.Instant

    private var deadlines: [TaskID: Instant] = [:]

    /// The earliest of all; nil when nothing waits.
    var next: Instant? { deadlines.values.min() }

    /// When a task is tried again; nil where it is not in back-off.
    func deadline(of id: TaskID) -> Instant? { deadlines[id] }

    /// The task is not in back-off any more.
    mutating func remove(_ id: TaskID) { deadlines[id] = nil }

    mutating func set(_ id: TaskID, _ deadline: Instant) { deadlines[id] = deadline }

    /// Takes out what is due.
    mutating func takeDue(at now: Instant) -> [TaskID] {
        let due = deadlines.filter { $0.value <= now }.keys.sorted()
        for id in due { deadlines[id] = nil }
        return due
    }
}
