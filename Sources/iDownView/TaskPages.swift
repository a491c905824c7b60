// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The rows of a list that may be very long: their number, and the pages near the screen.
///
/// The service filters, searches and sorts, so that a list of 100,000 downloads costs no more than
/// one of 100. This value has no bus: it returns the questions to ask, and takes the answers and
/// the signals.
package struct TaskPages: Sendable {
    /// The filter, the search and the order of the list.
    package struct Look: Hashable, Sendable {
        /// The states that are shown.
        package var filter = TaskList.Filter.all
        /// The text that names or URLs have to contain; empty shows all.
        package var search = ""
        /// The property that orders the rows.
        package var sort = TaskQuery.Sort.added
        /// Whether the order is reversed: the newest download is the first.
        package var isDescending = true

        package init() {}

        /// The query for all rows.
        package var query: TaskQuery {
            var query = TaskQuery()
            query.states = filter.states
            query.text = search.isEmpty ? nil : search
            query.sort = sort
            query.descending = isDescending
            return query
        }
    }

    /// A request for rows.
    package struct Question: Hashable, Sendable {
        fileprivate let generation: Int
        /// Whether the answer replaces all known rows.
        package let isReload: Bool
        fileprivate let first: Int
        /// The query to send.
        package let query: TaskQuery
    }

    /// A range of rows that replaces another, as in the signal items-changed of `GListModel`.
    package struct Splice: Hashable, Sendable {
        package var position: Int
        package var removed: Int
        package var added: Int

        package init(position: Int, removed: Int, added: Int) {
            self.position = position
            self.removed = removed
            self.added = added
        }
    }

    /// The effect of a signal on the rows.
    package struct Effect: Hashable, Sendable {
        /// The ids of the tasks to redraw.
        package var changed: [String] = []
        /// The ids of the tasks whose state has changed.
        package var changedState: [String] = []
        /// Whether rows may have been added, removed or moved, so that the list must be loaded
        /// again.
        package var movesRows = false
        /// Whether the counts of tasks per state have changed.
        package var movesCounts = false
    }

    /// How many rows there are.
    package private(set) var count = 0
    /// Whether the number of rows is known.
    package private(set) var isLoaded = false
    /// The look that the user wants.
    package private(set) var look = Look()
    /// The look of the known rows, which stay until ``look`` is answered; nil before the first answer.
    package private(set) var shownLook: Look?
    /// The ids of the known rows.
    private var ids: [Int: String] = [:]
    private var tasks: [String: TaskProperties] = [:]
    /// The number of the last change of the look or load of the list; answers to earlier questions
    /// are dropped.
    private var generation = 0
    /// The pages that are being loaded.
    private var asked: Set<Int> = []
    /// Whether the whole list is being loaded again.
    private var isReloading = false
    /// The time of each page's last use, as a growing number.
    private var uses: [Int: Int] = [:]
    private var lastUse = 0

    /// The number of rows of a page: more than fit on a screen.
    package static let pageLength = 128

    /// The most pages that are kept, so that scrolling through a long list does not fill the
    /// memory.
    static let mostPages = 8

    /// The most rows that are kept.
    package static let mostRows = mostPages * pageLength

    package init() {}

    /// The task in a row; nil while its page is not known.
    package subscript(row: Int) -> TaskProperties? { ids[row].flatMap { tasks[$0] } }

    /// A task by its id; nil if it is in no known row.
    package subscript(id: String) -> TaskProperties? { tasks[id] }

    /// The ids of all known rows.
    package var known: some Collection<String> { ids.values }

    /// Changes the look; the known rows stay on the screen until the answer arrives.
    package mutating func show(_ look: Look) {
        self.look = look
        // Answers that are still to come are about the look before.
        generation += 1
        asked = []
    }

    /// Returns the questions for visible rows that are not known; each is asked once.
    package mutating func questions(for rows: some Collection<Int>) -> [Question] {
        // These rows are about to be replaced.
        guard shownLook == look else { return [] }
        let pages = Set(rows.filter { ids[$0] == nil && $0 < count }.map { $0 / Self.pageLength })
        return pages.subtracting(asked).sorted().map { page in
            asked.insert(page)
            return question(page * Self.pageLength, Self.pageLength, isReload: false)
        }
    }

    /// Returns the question that loads the list again: the visible rows, or the first rows of
    /// another look.
    package mutating func reloadQuestion(for rows: Range<Int>) -> Question {
        generation += 1
        asked = []
        isReloading = true
        let rows = shownLook == look ? rows : 0..<0
        let first = rows.lowerBound / Self.pageLength * Self.pageLength
        let length = min(max(Self.pageLength, rows.upperBound - first), Self.mostRows)
        return question(first, length, isReload: true)
    }

    private func question(_ first: Int, _ length: Int, isReload: Bool) -> Question {
        var query = look.query
        query.offset = UInt32(clamping: first)
        query.limit = UInt32(clamping: length)
        query.properties = Self.properties
        return Question(generation: generation, isReload: isReload, first: first, query: query)
    }

    /// The properties that rows show and verbs need.
    package static let properties: [TaskProperty] = [
        .id, .serial, .url, .fileName, .state, .activity, .hold, .downloadedBytes, .totalBytes,
        .speed, .errorCode, .errorMessage, .path, .mimeType, .retryAt,
    ]

    /// Takes note that a question failed, so that its rows can be asked for again.
    package mutating func forget(_ question: Question) {
        guard question.generation == generation else { return }
        if question.isReload {
            isReloading = false
        } else {
            asked.remove(question.first / Self.pageLength)
        }
    }

    /// Takes an answer.
    ///
    /// - Returns: `splice`: the rows that were replaced; all rows after the first answer of another
    ///   look; nil for none. `changed`: the downloads to redraw, including those that were not
    ///   known, because their rows may show old facts. `isOld`: whether the list has another length
    ///   now, so that it must be loaded again.
    package mutating func take(
        _ answer: [TaskProperties],
        total: Int,
        for question: Question
    ) -> (splice: Splice?, changed: [String], isOld: Bool) {
        guard question.generation == generation else { return (nil, [], false) }
        let changed = answer.compactMap { task -> String? in
            guard let old = tasks[task.id] else { return isLoaded ? task.id : nil }
            return old == old.updated(by: task) ? nil : task.id
        }
        guard question.isReload else {
            asked.remove(question.first / Self.pageLength)
            guard total == count else { return (nil, [], true) }
            for (place, task) in answer.enumerated() { put(task, question.first + place) }
            use(question.first)
            return (nil, changed, false)
        }
        isReloading = false
        let isOtherLook = shownLook != look
        shownLook = look
        let (oldIDs, oldTasks, oldCount) = (ids, tasks, isLoaded ? count : 0)
        (ids, tasks, count, isLoaded, uses) = ([:], [:], total, true, [:])
        for (place, task) in answer.enumerated() {
            put(oldTasks[task.id]?.updated(by: task) ?? task, question.first + place)
        }
        let end = question.first + answer.count
        for row in stride(from: question.first, to: end, by: Self.pageLength) { use(row) }
        guard isOtherLook else {
            return (Self.splice(from: oldIDs, oldCount, to: ids, total), changed, false)
        }
        let all = Splice(position: 0, removed: oldCount, added: total)
        return (oldCount + total == 0 ? nil : all, changed, false)
    }

    private mutating func put(_ task: TaskProperties, _ row: Int) {
        ids[row] = task.id
        tasks[task.id] = tasks[task.id]?.updated(by: task) ?? task
    }

    /// Takes note that a row is visible; if there are too many pages, drops those not used for the
    /// longest time.
    ///
    /// A dropped page is loaded again when one of its rows becomes visible.
    package mutating func use(_ row: Int) {
        lastUse += 1
        uses[row / Self.pageLength] = lastUse
        while uses.count > Self.mostPages, let oldest = uses.min(by: { $0.value < $1.value })?.key {
            uses[oldest] = nil
            for row in oldest * Self.pageLength..<(oldest + 1) * Self.pageLength {
                if let id = ids.removeValue(forKey: row) { tasks[id] = nil }
            }
        }
    }

    /// Returns the smallest range that differs; rows that are not known on both sides count as equal.
    private static func splice(
        from old: [Int: String],
        _ oldCount: Int,
        to new: [Int: String],
        _ newCount: Int
    ) -> Splice? {
        let shorter = min(oldCount, newCount)
        let differences = old.keys.filter { row in
            guard let other = new[row] else { return false }
            return old[row] != other
        }
        let head = min(differences.min() ?? shorter, shorter)
        // From the end, rows count backwards.
        let shift = newCount - oldCount
        let tail =
            old.keys.filter { row in
                guard let other = new[row + shift] else { return false }
                return old[row] != other
            }.map { oldCount - 1 - $0 }.min() ?? shorter
        let kept = min(tail, shorter - head)
        guard oldCount - head - kept > 0 || newCount - head - kept > 0 else { return nil }
        return Splice(
            position: head,
            removed: oldCount - head - kept,
            added: newCount - head - kept
        )
    }
}

// Signals.
extension TaskPages {
    /// Takes news from the service.
    package mutating func apply(_ news: ListNews) -> Effect {
        switch news {
        case .anew, .whole, .page, .added, .removed: Effect(movesRows: true, movesCounts: true)
        case .left, .came: Effect()
        case .changed(let ids, let state, let common):
            change(ids, state, common.keys) { $0.applying(common) }
        }
    }

    private mutating func change(
        _ ids: [String],
        _ state: TaskProperties.State,
        _ keys: some Collection<String>,
        _ applying: (TaskProperties) -> TaskProperties
    ) -> Effect {
        var effect = Effect()
        let isProgress = keys.allSatisfy(Self.progress.contains)
        for id in ids {
            guard let old = tasks[id] else {
                // A task without a known row may get one by its new state or name.
                guard !isProgress else { continue }
                // An answer that is still to come may be older than this change.
                effect.movesRows =
                    effect.movesRows || isReloading || !asked.isEmpty || look.dependsOnTasks
                effect.movesCounts = true
                continue
            }
            var new = applying(old)
            new.state = state
            guard new.serial >= old.serial, new != old else { continue }
            tasks[id] = new
            effect.changed.append(id)
            if old.state != new.state { effect.changedState.append(id) }
            let moves = look.sort.moves(from: old, to: new, look.filter, look.search)
            effect.movesRows = effect.movesRows || moves
            effect.movesCounts = effect.movesCounts || old.state != new.state
        }
        return effect
    }

    private static let progress: Set<String> = [
        TaskProperty.downloadedBytes.rawValue, TaskProperty.totalBytes.rawValue,
        TaskProperty.speed.rawValue, TaskProperty.activity.rawValue, TaskProperty.serial.rawValue,
    ]
}

extension TaskPages.Look {
    /// Whether a change of a task can give it a row, take its row away, or move it: not in the
    /// order of adding without filter and search.
    fileprivate var dependsOnTasks: Bool { filter != .all || !search.isEmpty || sort != .added }
}
