// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// What is told of the news of the list as lines of JSON, each change once.
///
/// Signals are told as they are. Where the service has restarted, or where signals were lost, the
/// news give the tasks as they are now: of those followed to their ends the ends are told, else every
/// task that is newer than what was told of it.
package struct EventLog {
    /// The tasks that have not ended, of those that are followed to their ends; nil for all tasks.
    private var open: Set<String>?
    /// The newest serial that was told of each task; ``removed`` once it is gone.
    private var told: [String: UInt64] = [:]
    /// The tasks that were told of before the list began anew; empty once the new one is whole.
    private var earlier: Set<String> = []
    private var isServed = true

    private static let removed = UInt64.max

    /// Creates a log of the tasks with these IDs until they have ended; nil means of all tasks.
    package init(of ids: Set<String>? = nil) { open = ids }

    /// Whether all tasks that were to be followed have ended.
    package var isComplete: Bool { open?.isEmpty == true }

    /// Takes the tasks as they were when the news began.
    ///
    /// - Returns: What is told of them.
    package mutating func begin(_ tasks: [TaskProperties]) -> [EventJSON] {
        tasks.map { task in
            told[task.id] = task.serial
            if task.hasEnded { open?.remove(task.id) }
            return .listed(task)
        }
    }

    /// Takes what had changed in a list when the news began.
    ///
    /// - Returns: What is told of it.
    package mutating func begin(_ changes: ListChanges, of list: String) -> [EventJSON] {
        for id in changes.removed { told[id] = Self.removed }
        return begin(changes.tasks) + changes.removed.map { .event(.removed(id: $0)) }
            + [.whole(list: list, serial: changes.serial)]
    }

    /// Takes the next news.
    ///
    /// - Returns: What is told of it.
    package mutating func take(_ news: ListNews) -> [EventJSON] {
        switch news {
        case .came: return serve(true)
        case .left: return serve(false)
        case .anew:
            earlier = Set(told.lazy.filter { $0.value != Self.removed }.map(\.key))
            told = [:]
            return []
        case .page(let tasks): return tasks.compactMap { tell(missed: $0) }
        case .added(let tasks): return tasks.compactMap { tell(.added($0)) }
        case .event(let event): return [tell(event)].compactMap(\.self)
        case .changed(let ids, let state, let common):
            return ids.compactMap { tell(.changed(id: $0, state: state, changed: common)) }
        case .removed(let ids): return ids.compactMap { tell(.removed(id: $0)) }
        case .whole:
            defer { earlier = [] }
            return earlier.filter { told[$0] == nil }.sorted().compactMap { tell(.removed(id: $0)) }
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
        return .event(.changed(id: task.id, state: task.state, changed: [:]))
    }

    private mutating func tell(_ event: ManagerEvent) -> EventJSON? {
        let known = told[event.id]
        guard follows(event.id), known != Self.removed else { return nil }
        switch event {
        case .added(let task):
            guard known.map({ task.serial > $0 }) ?? true else { return nil }
            told[event.id] = task.serial
        case .changed(_, let state, let changed):
            // Services before version 2 give no serial, and tell all in order.
            let serial = TaskProperties().applying(changed).serial
            guard serial == 0 || serial >= known ?? 0 else { return nil }
            told[event.id] = max(serial, known ?? 0)
            if state == .completed || state == .failed || state == .cancelled {
                open?.remove(event.id)
            }
        case .removed:
            told[event.id] = Self.removed
            open?.remove(event.id)
        }
        return .event(event)
    }

    private func follows(_ id: String) -> Bool { open?.contains(id) ?? true }
}
