// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The rows of a list that may be very long: how many there are, and the pages that are looked at.
///
/// The service filters, searches and sorts; a list of 100,000 downloads costs no more than one of
/// 100. A value without a bus: it says what to ask, and takes the answers and the signals.
package struct TaskPages: Sendable {
    /// What is shown, and in which order.
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

    /// Rows to ask for.
    package struct Question: Hashable, Sendable {
        fileprivate let generation: Int
        /// Whether the answer takes the place of all that is known.
        package let isAnew: Bool
        fileprivate let first: Int
        /// What to ask.
        package let query: TaskQuery
    }

    /// Rows that take the place of others, as in `GListModel`'s items-changed.
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

    /// What a signal means for the rows.
    package struct Effect: Hashable, Sendable {
        /// The tasks that look different now.
        package var changed: [String] = []
        /// Those of them that have another state now.
        package var turned: [String] = []
        /// Whether rows may have come, gone or moved: ask anew.
        package var movesRows = false
        /// Whether states have changed, and with them the counts.
        package var movesCounts = false
    }

    /// How many rows there are.
    package private(set) var count = 0
    /// Whether the number of rows is known.
    package private(set) var isLoaded = false
    /// What is shown.
    package private(set) var look = Look()
    /// The look of the known rows, which stay until ``look`` is answered; nil before the first answer.
    package private(set) var shownLook: Look?
    /// The ids of the known rows.
    private var ids: [Int: String] = [:]
    private var tasks: [String: TaskProperties] = [:]
    /// Each answer to an older question than this is dropped.
    private var generation = 0
    /// The pages under way.
    private var asked: Set<Int> = []
    /// Whether the question for everything anew is under way.
    private var isAskingAnew = false
    /// When each page was used last, as a number that grows.
    private var uses: [Int: Int] = [:]
    private var lastUse = 0

    /// Rows of a page: more than a screen has.
    package static let pageLength = 128

    /// The most pages that are known at once, so that a walk through a long list fills no memory.
    static let mostPages = 8

    /// The most rows that are known at once.
    package static let mostRows = mostPages * pageLength

    package init() {}

    /// The task in a row; nil while its page is not known.
    package subscript(row: Int) -> TaskProperties? { ids[row].flatMap { tasks[$0] } }

    /// A task by its id; nil if it is in no known row.
    package subscript(id: String) -> TaskProperties? { tasks[id] }

    /// The ids of all known rows.
    package var known: some Collection<String> { ids.values }

    /// Shows something else; what is known stays on the screen until the answer is there.
    package mutating func show(_ look: Look) {
        self.look = look
        // The answers under way are about rows of the look before.
        generation += 1
        asked = []
    }

    /// Returns the questions for rows that are looked at and not known; each is asked once.
    package mutating func questions(for rows: some Collection<Int>) -> [Question] {
        // These rows are about to go.
        guard shownLook == look else { return [] }
        let pages = Set(rows.filter { ids[$0] == nil && $0 < count }.map { $0 / Self.pageLength })
        return pages.subtracting(asked).sorted().map { page in
            asked.insert(page)
            return question(page * Self.pageLength, Self.pageLength, isAnew: false)
        }
    }

    /// Returns the question for everything anew, with the rows that are looked at, or with the first
    /// rows of another look.
    package mutating func questionAnew(for rows: Range<Int>) -> Question {
        generation += 1
        asked = []
        isAskingAnew = true
        let rows = shownLook == look ? rows : 0..<0
        let first = rows.lowerBound / Self.pageLength * Self.pageLength
        let length = min(max(Self.pageLength, rows.upperBound - first), Self.mostRows)
        return question(first, length, isAnew: true)
    }

    private func question(_ first: Int, _ length: Int, isAnew: Bool) -> Question {
        var query = look.query
        query.offset = UInt32(clamping: first)
        query.limit = UInt32(clamping: length)
        query.properties = Self.properties
        return Question(generation: generation, isAnew: isAnew, first: first, query: query)
    }

    /// The properties that a row shows, and that the verbs need.
    package static let properties: [TaskProperty] = [
        .id, .serial, .url, .fileName, .state, .activity, .hold, .downloadedBytes, .totalBytes,
        .speed, .errorCode, .errorMessage, .path, .mimeType, .retryAt,
    ]

    /// Takes note that a question has no answer, so that its rows are asked for again.
    package mutating func forget(_ question: Question) {
        guard question.generation == generation else { return }
        if question.isAnew {
            isAskingAnew = false
        } else {
            asked.remove(question.first / Self.pageLength)
        }
    }

    /// Takes an answer.
    ///
    /// - Returns: The rows that take the place of others; nil where none does. All rows are replaced
    ///   where the answer is the first of another look. `changed` has the downloads that look
    ///   different, and those that were not known: a row may still show what it was long ago. `isOld`
    ///   where the list has another length by now: ask anew.
    package mutating func take(
        _ answer: [TaskProperties],
        total: Int,
        for question: Question
    ) -> (splice: Splice?, changed: [String], isOld: Bool) {
        guard question.generation == generation else { return (nil, [], false) }
        let changed = answer.compactMap { task -> String? in
            guard let old = tasks[task.id] else { return isLoaded ? task.id : nil }
            return old == newer(old, task) ? nil : task.id
        }
        guard question.isAnew else {
            asked.remove(question.first / Self.pageLength)
            guard total == count else { return (nil, [], true) }
            for (place, task) in answer.enumerated() { put(task, question.first + place) }
            use(question.first)
            return (nil, changed, false)
        }
        isAskingAnew = false
        let isOtherLook = shownLook != look
        shownLook = look
        let (oldIDs, oldTasks, oldCount) = (ids, tasks, isLoaded ? count : 0)
        (ids, tasks, count, isLoaded, uses) = ([:], [:], total, true, [:])
        for (place, task) in answer.enumerated() {
            put(oldTasks[task.id].map { newer($0, task) } ?? task, question.first + place)
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
        tasks[task.id] = tasks[task.id].map { newer($0, task) } ?? task
    }

    /// Takes note that a row is looked at; where too many pages are known, those that were not used for
    /// the longest time are forgotten, and are asked for again when they are looked at.
    package mutating func use(_ row: Int) {
        lastUse += 1
        uses[row / Self.pageLength] = lastUse
        while uses.count > Self.mostPages,
            let oldest = uses.min(by: { $0.value < $1.value })?.key
        {
            uses[oldest] = nil
            for row in oldest * Self.pageLength..<(oldest + 1) * Self.pageLength {
                if let id = ids.removeValue(forKey: row) { tasks[id] = nil }
            }
        }
    }

    /// Of two statements about a task the one with the higher serial is true.
    private func newer(_ old: TaskProperties, _ new: TaskProperties) -> TaskProperties {
        new.serial >= old.serial ? new : old
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
    /// Takes what the service told.
    package mutating func apply(_ news: ListNews) -> Effect {
        switch news {
        case .anew, .whole, .page, .added, .removed: Effect(movesRows: true, movesCounts: true)
        case .left, .came: Effect()
        case .event(.added), .event(.removed): Effect(movesRows: true, movesCounts: true)
        case .event(.changed(let id, let state, let changed)):
            change([id], state, changed.keys) { $0.applying(changed) }
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
                // A task that is not looked at may come into view by its new state or name.
                guard !isProgress else { continue }
                // And an answer under way may be older than this.
                effect.movesRows =
                    effect.movesRows || isAskingAnew || !asked.isEmpty
                    || look != Look.inOrderOfAdding(look)
                effect.movesCounts = true
                continue
            }
            var new = applying(old)
            new.state = state
            guard new.serial >= old.serial, new != old else { continue }
            tasks[id] = new
            effect.changed.append(id)
            if old.state != new.state { effect.turned.append(id) }
            effect.movesRows = effect.movesRows || look.moves(from: old, to: new)
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
    /// The same direction, without filter and search.
    fileprivate static func inOrderOfAdding(_ look: Self) -> Self {
        var other = Self()
        other.isDescending = look.isDescending
        return other
    }

    /// Whether a change may move, add or remove rows.
    fileprivate func moves(from old: TaskProperties, to new: TaskProperties) -> Bool {
        if filter != .all, old.state != new.state { return true }
        if !search.isEmpty, old.fileName != new.fileName || old.url != new.url { return true }
        return sort.moves(from: old, to: new)
    }
}
