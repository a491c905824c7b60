// SPDX-License-Identifier: Apache-2.0

import iDownState

/// The times at which tasks are tried again, by a clock that runs while the computer sleeps.
///
/// A server that goes away can send 100,000 tasks into back-off, so no call here walks through all
/// of them.
struct BackOffs {
    typealias Instant = ContinuousClock.Instant

    private var deadlines: [TaskID: Instant] = [:]
    /// The same times as a heap, the earliest first.
    ///
    /// Outdated entries stay until they come first, or until most entries are outdated; the first
    /// entry is always valid.
    private var heap: [(id: TaskID, deadline: Instant)] = []

    /// The earliest time; nil where no task is in back-off.
    var next: Instant? { heap.first?.deadline }

    /// Returns when a task is tried again; nil where it is not in back-off.
    func deadline(of id: TaskID) -> Instant? { deadlines[id] }

    /// Notes that a task is not in back-off any more.
    mutating func remove(_ id: TaskID) {
        guard deadlines.removeValue(forKey: id) != nil else { return }
        tidy()
    }

    mutating func set(_ id: TaskID, _ deadline: Instant) {
        deadlines[id] = deadline
        heap.append((id, deadline))
        var child = heap.count - 1
        while child > 0, heap[child].deadline < heap[(child - 1) / 2].deadline {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
        tidy()
    }

    /// Takes out the tasks whose time has come.
    mutating func takeDue(at now: Instant) -> [TaskID] {
        var due: [TaskID] = []
        while let first = heap.first, first.deadline <= now {
            due.append(first.id)
            remove(first.id)
        }
        return due.sorted()
    }

    /// Makes the first entry a valid one, and drops outdated entries if most are.
    private mutating func tidy() {
        if heap.count > 2 * deadlines.count + 64 {
            // A sorted array is a heap.
            heap = deadlines.map { (id: $0.key, deadline: $0.value) }
                .sorted { $0.deadline < $1.deadline }
        }
        while let first = heap.first, deadlines[first.id] != first.deadline { removeFirst() }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var earliest = parent
            for child in (2 * parent + 1)...(2 * parent + 2)
            where child < heap.count && heap[child].deadline < heap[earliest].deadline {
                earliest = child
            }
            guard earliest != parent else { return }
            heap.swapAt(parent, earliest)
            parent = earliest
        }
    }
}
