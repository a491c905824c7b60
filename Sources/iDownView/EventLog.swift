// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// Turns news of the list into events for lines of JSON, and reports each change once.
///
/// Signals are reported as they are. After a restart of the service or a loss of signals, the news
/// contain the tasks as they are now: if tasks are followed to their ends, it reports their ends,
/// otherwise every task that is newer than its last report.
package struct EventLog {
    /// The tasks that have not ended, of those that are followed to their ends; nil for all tasks.
    private var open: Set<String>?
    /// The newest reported serial of each task; ``removed`` after its removal.
    private var told: [String: UInt64] = [:]
    /// The reported tasks of the list before the service restarted; empty once the new list is
    /// complete.
    private var earlier: Set<String> = []
    private var isServed = true

    private static let removed = UInt64.max

    /// Creates a log of the tasks with these IDs until they have ended; nil means of all tasks.
    package init(of ids: Set<String>? = nil) { open = ids }

    /// Whether all tasks that were to be followed have ended.
    package var isComplete: Bool { open?.isEmpty == true }

    /// Takes the tasks as they were when the news began.
    ///
    /// - Returns: The events to print.
    package mutating func begin(_ tasks: [TaskProperties]) -> [EventJSON] {
        tasks.map { task in
            told[task.id] = task.serial
            if task.hasEnded { open?.remove(task.id) }
            return .listed(task)
        }
    }

    /// Takes the changes since an earlier position in a list, as they were when the news began.
    ///
    /// - Returns: The events to print.
    package mutating func begin(_ changes: ListChanges, of list: String) -> [EventJSON] {
        for id in changes.removed { told[id] = Self.removed }
        return begin(changes.tasks) + changes.removed.map { .removed(id: $0) }
            + [.whole(list: list, serial: changes.serial)]
    }

    /// Takes the next news.
    ///
    /// - Returns: The events to print.
    package mutating func take(_ news: ListNews) -> [EventJSON] {
        switch news {
        case .came: return serve(true)
        case .left: return serve(false)
        case .anew:
            earlier = Set(told.lazy.filter { $0.value != Self.removed }.map(\.key))
            told = [:]
            return []
        case .page(let tasks): return tasks.compactMap { tell(missed: $0) }
        case .added(let tasks): return tasks.compactMap { tell(.added($0), of: $0.id) }
        case .changed(let ids, let state, let common):
            return ids.compactMap { id in
                tell(.changed(id: id, state: state, changed: common), of: id)
            }
        case .removed(let ids): return ids.compactMap { tell(.removed(id: $0), of: $0) }
        case .whole:
            defer { earlier = [] }
            return earlier.filter { told[$0] == nil }.sorted()
                .compactMap { tell(.removed(id: $0), of: $0) }
        }
    }

    private mutating func serve(_ isServed: Bool) -> [EventJSON] {
        guard isServed != self.isServed else { return [] }
        self.isServed = isServed
        return [.service(isRunning: isServed)]
    }

    private mutating func tell(missed task: TaskProperties) -> EventJSON? {
        guard follows(task.id), told[task.id].map({ task.serial > $0 }) ?? true else { return nil }
        told[task.id] = task.serial
        guard open != nil else { return .listed(task) }
        guard task.hasEnded else { return nil }
        open?.remove(task.id)
        return .changed(id: task.id, state: task.state, changed: [:])
    }

    private mutating func tell(_ event: EventJSON, of id: String) -> EventJSON? {
        let known = told[id]
        guard follows(id), known != Self.removed else { return nil }
        switch event {
        case .added(let task):
            guard known.map({ task.serial > $0 }) ?? true else { return nil }
            told[id] = task.serial
        case .changed(_, let state, let changed):
            // Services before version 2 give no serial, and send all changes in order.
            let serial = TaskProperties().applying(changed).serial
            guard serial == 0 || serial >= known ?? 0 else { return nil }
            told[id] = max(serial, known ?? 0)
            if state.isEnd { open?.remove(id) }
        case .removed:
            told[id] = Self.removed
            open?.remove(id)
        case .listed, .whole, .service: break
        }
        return event
    }

    private func follows(_ id: String) -> Bool { open?.contains(id) ?? true }
}
