// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The live list of downloads: all tasks, which of them are shown in which order, and the cursor.
///
/// It has no clock, terminal or bus: it takes the news of the list and returns the rows to draw.
package struct TaskList: Sendable {
    /// What the screen shows: rows, or a sentence in their place.
    package enum Content: Hashable, Sendable {
        /// The list was asked for; the answer is still to come.
        case loading
        /// There are no downloads.
        case empty
        /// There are downloads, but none matches search and filter.
        case noneFound
        /// There are rows.
        case loaded
        /// The list could not be loaded; the text tells why.
        case failed(String)
    }

    private enum Phase {
        case loading, loaded
        case failed(String)
    }

    private var phase = Phase.loading
    private var live = LiveList()
    private var tasks: [String: TaskProperties] { live.tasks }
    /// All IDs; removed tasks stay in it until ``rows()`` drops them.
    private var order: [String] = []
    /// Whether `order` is the order of adding.
    private var isInOrder = true
    /// The IDs of the rows, in order; nil after a change that may move rows.
    private var shown: [String]?
    private var counts: [TaskProperties.State: Int] = [:]
    private var downloading: Set<String> = []

    /// The text that names or URLs have to contain; empty shows all.
    package var search = "" { didSet { if search != oldValue { shown = nil } } }
    /// The states that are shown.
    package var filter = Filter.all { didSet { if filter != oldValue { shown = nil } } }
    /// The property that orders the rows.
    package var sort = TaskQuery.Sort.added { didSet { if sort != oldValue { shown = nil } } }
    /// Whether the order is reversed.
    package var isDescending = false { didSet { if isDescending != oldValue { shown = nil } } }

    /// The ID of the row with the cursor; nil if there are no rows.
    package internal(set) var cursor: String?
    /// The place of the cursor's row when ``rows()`` last ordered them.
    var place = 0
    /// Whether several rows can be selected: each has a box.
    package internal(set) var isEditing = false
    /// The IDs of the selected rows.
    package internal(set) var chosen: Set<String> = []

    /// Makes a list that is still to be loaded.
    package init() {}
}

// The tasks.
extension TaskList {
    /// Takes news of the list.
    package mutating func apply(_ news: ListNews) {
        if case .anew = news {
            (order, counts, downloading, shown) = ([], [:], [], nil)
            phase = .loading
        }
        for change in live.apply(news) { take(change) }
        switch news {
        case .page(let page): if !page.isEmpty { phase = .loaded }
        case .whole:
            phase = .loaded
            chosen.formIntersection(tasks.keys)
        case .anew, .added, .changed, .removed, .left, .came: break
        }
    }

    private mutating func take(_ change: LiveList.Change) {
        if let old = change.old { count(old, by: -1) }
        if let new = change.new { count(new, by: 1) }
        switch (change.old, change.new) {
        case (nil, let new?):
            order.append(new.id)
            (isInOrder, shown) = (false, nil)
        case (let old?, let new?):
            if sort.moves(from: old, to: new, filter, search) { shown = nil }
        case (let old?, nil):
            chosen.remove(old.id)
            shown = nil
        case (nil, nil): break
        }
    }

    /// Takes the reason why the list could not be loaded.
    package mutating func fail(_ reason: String) { phase = .failed(reason) }

    /// The task with an ID; nil if it is not in the list.
    package subscript(id: String) -> TaskProperties? { tasks[id] }

    /// How many downloads there are.
    package var count: Int { tasks.count }

    /// Returns how many downloads are in a state.
    package func count(in state: TaskProperties.State) -> Int { counts[state] ?? 0 }

    /// The sums over all running downloads: bytes per second, bytes on disk, and bytes in all.
    ///
    /// `knownSpeed`, `done` and `whole` leave out downloads of unknown size, so that they give the
    /// time left.
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

// The rows.
extension TaskList {
    /// Returns what the screen shows.
    package mutating func content() -> Content {
        switch phase {
        case .loading: .loading
        case .failed(let reason): .failed(reason)
        case .loaded: tasks.isEmpty ? .empty : rows().isEmpty ? .noneFound : .loaded
        }
    }

    /// Returns the IDs of the rows from top to bottom.
    package mutating func rows() -> [String] {
        if let shown { return shown }
        if order.count > tasks.count {
            let tasks = tasks
            order.removeAll { tasks[$0] == nil }
        }
        if !isInOrder {
            // IDs are numbers: the longer one is the higher one.
            order.sort { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
            isInOrder = true
        }
        var found = order
        if filter != .all || !search.isEmpty {
            let text = Self.folded(search)
            found = order.filter { id in
                guard let task = tasks[id], filter.takes(task.state) else { return false }
                guard !text.isEmpty else { return true }
                // Without a name the row shows the end of the URL.
                let name =
                    task.fileName.isEmpty
                    ? TaskSummary(task).shortName.description : task.fileName
                return Self.folded(name).contains(text) || Self.folded(task.url).contains(text)
            }
        }
        found = sorted(found)
        if isDescending { found.reverse() }
        shown = found
        // The cursor stays on its task; if the task has no row any more, it goes to the row in its
        // place.
        if let index = cursor.flatMap({ found.firstIndex(of: $0) }) {
            place = index
        } else {
            place = max(0, min(place, found.count - 1))
            cursor = found.isEmpty ? nil : found[place]
        }
        return found
    }

    /// Returns a text for comparison without case; upper case comes first, because only it makes `SS`
    /// of `ß`.
    private static func folded(_ text: String) -> String { text.uppercased().lowercased() }

    /// Returns the IDs in order; equal ones stay in the order of adding.
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
        case .host: by { TaskSummary($0).source }
        // In both directions, tasks without a time left come last.
        case .timeLeft: by { $0.timeLeft ?? (isDescending ? -1 : .infinity) }
        }
    }
}

extension TaskQuery.Sort {
    /// Returns whether a change of a task may move its row, show it, or hide it.
    func moves(
        from old: TaskProperties,
        to new: TaskProperties,
        _ filter: TaskList.Filter,
        _ search: String
    ) -> Bool {
        if filter != .all, old.state != new.state { return true }
        if !search.isEmpty, old.fileName != new.fileName || old.url != new.url { return true }
        return switch self {
        case .added: false
        case .name: old.fileName != new.fileName
        case .size: old.totalBytes != new.totalBytes
        case .state: old.state != new.state
        case .progress: old.progress != new.progress
        case .priority: old.priority != new.priority
        case .host: old.url != new.url
        case .timeLeft: old.timeLeft != new.timeLeft
        }
    }
}
