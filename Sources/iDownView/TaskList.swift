// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The list of downloads as people look at it: what there is, what of it is shown, and where the
/// cursor stands.
///
/// A value without a clock, a terminal or a bus: it is fed with the whole list once and with each
/// change after that, and whoever draws it asks for rows.
package struct TaskList: Sendable {
    /// What there is to show instead of, or as, the rows.
    package enum Content: Hashable, Sendable {
        /// The list was asked for and has not come.
        case loading
        /// There are no downloads at all.
        case empty
        /// There are downloads, and none that fits search and filter.
        case noneFound
        /// Rows.
        case loaded
        /// The list did not come; why, for people.
        case failed(String)
    }

    private enum Phase {
        case loading, loaded
        case failed(String)
    }

    private var phase = Phase.loading
    /// How many answers are on their way, and what came since the first of them was asked for.
    private var awaitedLists = 0
    private var early: [ManagerEvent] = []
    private var tasks: [String: TaskProperties] = [:]
    /// In the order of adding; may name tasks that are gone, until it is looked at.
    private var order: [String] = []
    /// The ids shown, in their order; nil when it has to be found out anew.
    private var shown: [String]?
    private var counts: [TaskProperties.State: Int] = [:]
    private var downloading: Set<String> = []

    /// What to look for in names and URLs; empty for everything.
    package var search = "" { didSet { if search != oldValue { shown = nil } } }
    /// Which states are shown.
    package var filter = Filter.all { didSet { if filter != oldValue { shown = nil } } }
    /// By what the rows are ordered.
    package var sort = TaskQuery.Sort.added { didSet { if sort != oldValue { shown = nil } } }
    /// The other way round.
    package var isDescending = false {
        didSet { if isDescending != oldValue { shown = nil } }
    }

    /// The id of the row with the cursor; nil where there are no rows.
    package internal(set) var cursor: String?
    /// Where the cursor's row stood when the rows were last found out.
    var place = 0
    /// Whether rows can be chosen, with a box each.
    package internal(set) var isEditing = false
    /// The ids chosen in edit mode.
    package internal(set) var chosen: Set<String> = []

    /// A list of which nothing is known yet.
    package init() {}
}

// What there is.
extension TaskList {
    /// Takes the whole list.
    ///
    /// A long list is written down at one time and comes at another: changes that overtook it are
    /// applied once more. Those that it has already do no harm, since the last one of each task
    /// says how it stands.
    package mutating func load(_ list: [TaskProperties]) {
        phase = .loaded
        tasks = Dictionary(list.map { ($0.id, $0) }) { $1 }
        order = list.map(\.id)
        counts = [:]
        downloading = []
        for task in list { count(task, by: 1) }
        shown = nil
        for event in early { change(event) }
        chosen.formIntersection(tasks.keys)
        endAwaited()
    }

    /// The list could not be had.
    package mutating func fail(_ reason: String) {
        phase = .failed(reason)
        endAwaited()
    }

    /// The list is asked for anew; one ``load(_:)`` or ``fail(_:)`` follows for each time.
    package mutating func reload() {
        if case .failed = phase { phase = .loading }
        awaitedLists += 1
    }

    private mutating func endAwaited() {
        awaitedLists = max(0, awaitedLists - 1)
        if awaitedLists == 0 { early = [] }
    }

    /// Takes a change.
    package mutating func apply(_ event: ManagerEvent) {
        if awaitedLists > 0 { early.append(event) }
        guard case .loaded = phase else { return }
        change(event)
    }

    private mutating func change(_ event: ManagerEvent) {
        switch event {
        case .added(let task):
            if let old = tasks[task.id] { count(old, by: -1) } else { order.append(task.id) }
            tasks[task.id] = task
            count(task, by: 1)
            shown = nil
        case .changed(let id, let state, let changed):
            guard let old = tasks[id] else { return }
            var task = old.applying(changed)
            task.state = state
            tasks[id] = task
            if old.state != state {
                count(old, by: -1)
                count(task, by: 1)
            }
            if moves(from: old, to: task) { shown = nil }
        case .removed(let id):
            guard let old = tasks.removeValue(forKey: id) else { return }
            count(old, by: -1)
            chosen.remove(id)
            shown = nil
        }
    }

    /// Takes from a task what signals leave out: its segments and connections, and the queries of
    /// its URL and referrer.
    ///
    /// All else is left as it is: a signal may have come since the task was asked for.
    package mutating func fillIn(_ task: TaskProperties) {
        guard let old = tasks[task.id] else { return }
        tasks[task.id]?.segments = task.segments
        tasks[task.id]?.connections = task.connections
        tasks[task.id]?.referrer = task.referrer
        tasks[task.id]?.url = task.url
        if !search.isEmpty, old.url != task.url { shown = nil }
    }

    /// A task of the list.
    package subscript(id: String) -> TaskProperties? { tasks[id] }

    /// How many downloads there are.
    package var count: Int { tasks.count }

    /// How many are in a state.
    package func count(in state: TaskProperties.State) -> Int { counts[state] ?? 0 }

    /// What downloads now: how many bytes a second, and how many of how many bytes are there.
    ///
    /// `knownSpeed` is that of the downloads whose whole is known, which alone brings these nearer
    /// to their end.
    package var totals: (speed: UInt64, knownSpeed: UInt64, done: UInt64, whole: UInt64) {
        downloading.reduce(into: (0, 0, 0, 0)) { sum, id in
            guard let task = tasks[id] else { return }
            sum.speed &+= task.speed
            guard let total = task.knownTotal else { return }
            sum.knownSpeed &+= task.speed
            sum.done &+= task.downloadedBytes
            sum.whole &+= total
        }
    }

    private mutating func count(_ task: TaskProperties, by step: Int) {
        counts[task.state, default: 0] += step
        guard task.state == .downloading else { return }
        if step > 0 { downloading.insert(task.id) } else { downloading.remove(task.id) }
    }
}

// What of it is shown.
extension TaskList {
    /// What there is to show.
    package mutating func content() -> Content {
        switch phase {
        case .loading: .loading
        case .failed(let reason): .failed(reason)
        case .loaded: tasks.isEmpty ? .empty : rows().isEmpty ? .noneFound : .loaded
        }
    }

    /// The ids of the rows from top to bottom.
    package mutating func rows() -> [String] {
        if let shown { return shown }
        if order.count > tasks.count { order.removeAll { tasks[$0] == nil } }
        var found = order
        if filter != .all || !search.isEmpty {
            let text = Self.folded(search)
            found = order.filter { id in
                guard let task = tasks[id], filter.takes(task.state) else { return false }
                guard !text.isEmpty else { return true }
                // What the row shows as long as the file has no name of its own.
                let name =
                    task.fileName.isEmpty
                    ? TaskSummary(task).shortName.description : task.fileName
                return Self.folded(name).contains(text) || Self.folded(task.url).contains(text)
            }
        }
        found = sorted(found)
        if isDescending { found.reverse() }
        shown = found
        // The cursor stays on its task, or in its place where that is no longer shown.
        if let index = cursor.flatMap({ found.firstIndex(of: $0) }) {
            place = index
        } else {
            place = max(0, min(place, found.count - 1))
            cursor = found.isEmpty ? nil : found[place]
        }
        return found
    }

    /// A text without the difference between its letters' cases; `ß` has no capital of its own, and
    /// is `SS` in capitals.
    private static func folded(_ text: String) -> String {
        text.uppercased().lowercased()
    }

    /// Whether a change may move rows, make them come or go.
    private func moves(from old: TaskProperties, to new: TaskProperties) -> Bool {
        if filter != .all, old.state != new.state { return true }
        if !search.isEmpty, old.fileName != new.fileName || old.url != new.url { return true }
        return switch sort {
        case .added: false
        case .name: old.fileName != new.fileName
        case .size: old.totalBytes != new.totalBytes
        case .state: old.state != new.state
        case .progress: old.progress != new.progress
        case .priority: old.priority != new.priority
        }
    }

    /// The ids by what they are ordered; equal ones stand in the order of adding.
    private func sorted(_ ids: [String]) -> [String] {
        func by<Key: Comparable>(_ key: (TaskProperties) -> Key) -> [String] {
            let keyed = ids.enumerated().compactMap { place, id in
                tasks[id].map { (key: key($0), place: place, id: id) }
            }
            return keyed.sorted { ($0.key, $0.place) < ($1.key, $1.place) }.map(\.id)
        }
        return switch sort {
        case .added: ids
        case .name: by { $0.fileName.lowercased() }
        case .size: by(\.totalBytes)
        case .state: by { TaskProperties.State.known.firstIndex(of: $0.state) ?? .max }
        case .progress: by(\.progress)
        case .priority: by(\.priority)
        }
    }
}
