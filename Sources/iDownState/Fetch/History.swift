// SPDX-License-Identifier: Apache-2.0

/// What happened in the attempts of tasks and what was decided, to explain why a download is slow,
/// started anew or failed.
///
/// The history is in memory only. It keeps the last 200 entries of a task and 20,000 entries in
/// all. No entry holds a password, a query, a cookie or the value of a header.
package struct History: Sendable {
    /// One event of an attempt.
    package struct Entry: Hashable, Sendable {
        /// When it happened; the times jump where the clock is set.
        package let time: WallTime
        /// The connection of the attempt, counted from 1; 0 for the attempt itself.
        package let connection: Int
        package let what: What
        /// Further values, by the names that ``What`` lists for the kind.
        package let details: [String: Detail]

        package init(
            _ what: What,
            connection: Int = 0,
            _ details: [String: Detail] = [:],
            at time: WallTime
        ) {
            self.time = time
            self.connection = connection
            self.what = what
            self.details = details
        }
    }

    /// The kinds of entries.
    package enum What: String, CaseIterable, Sendable {
        /// An attempt begins: `attempt`, `bytes` on disk, `total` where it is known, `cookies`
        /// (`missing`) where the user's cookie file could not be read.
        case started
        /// A request is sent: `host`, `via` (the proxy's host and port) where there is one, `first`
        /// and `length` of the range, `why` (`lead`, `gap`, `split`, `race`).
        case asked
        /// The head of an answer has come: `status`, `decision` (`begin`, `resume`, `compare`,
        /// `prove`, `check`, `complete`, `ask-again`, `redirect`, `fail`), `error` where the
        /// decision is one.
        case answered
        /// Received bytes differ from those on disk: `at`, the offset of the first one.
        case differs
        /// Received bytes equal those on disk: the download continues after them.
        case proven
        /// A connection has ended: the `bytes` it brought, `error` where it was cut short, `cut`
        /// where idown ended it.
        case ended
        /// A host has refused one more connection: `host`.
        case refused
        /// Another source is asked: `source`, counted from 0 for the task's own URL; `why`, the
        /// outcome of the source before; `anew` where the bytes on disk were given up.
        case source
        /// All bytes are on disk and fit what is known of the file: `bytes`.
        case verified
        /// The attempt ended without the file: `error`, `message`.
        case failed
        /// The attempt was stopped or held: `why`.
        case stopped
    }

    package enum Detail: Hashable, Sendable {
        case text(String)
        case number(Int64)
        case flag(Bool)
    }

    /// The most entries of one task.
    package static let mostOfTask = 200
    /// The most entries of all tasks.
    package static let mostOfAll = 20_000

    private var entries: [TaskID: [Entry]] = [:]
    /// The tasks by the time of their last entries, the oldest first; each task appears once.
    private var order: [TaskID] = []
    /// How many entries are kept of all tasks.
    package private(set) var count = 0

    package init() {}

    /// Returns the entries of a task, the oldest first.
    package func entries(of task: TaskID) -> [Entry] { entries[task] ?? [] }

    package mutating func add(_ entry: Entry, of task: TaskID) {
        if order.last != task {
            order.removeAll { $0 == task }
            order.append(task)
        }
        entries[task, default: []].append(entry)
        count += 1
        if let own = entries[task], own.count > Self.mostOfTask {
            entries[task]?.removeFirst(own.count - Self.mostOfTask)
            count -= own.count - Self.mostOfTask
        }
        // The task whose last entry is the oldest loses all its entries: some of them explain
        // nothing.
        while count > Self.mostOfAll, let oldest = order.first { forget(oldest) }
    }

    /// Drops the entries of a task that is over or removed.
    package mutating func forget(_ task: TaskID) {
        guard let gone = entries.removeValue(forKey: task) else { return }
        count -= gone.count
        order.removeAll { $0 == task }
    }
}
