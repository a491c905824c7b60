// SPDX-License-Identifier: Apache-2.0

/// What has happened in the attempts of tasks, and what was decided then: for whoever wants to know
/// why a download is slow, began anew or failed.
///
/// In memory only. The last 200 entries of a task are kept, and 20,000 of all tasks; the oldest go
/// first. No entry holds a password, a query, a cookie or a header's value.
package struct History: Sendable {
    /// One thing that has happened.
    package struct Entry: Hashable, Sendable {
        /// When; it jumps where the clock is set.
        package let time: WallTime
        /// Which connection of the attempt, counted from 1; 0 for the attempt itself.
        package let connection: Int
        package let what: What
        /// What goes with it, by the names that its kind gives.
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
        /// An attempt begins: `attempt`, `bytes` that are on disk, `total` where it is known.
        case started
        /// A request goes out: `host`, `first` and `length` of what it asks for, `why` (`lead`,
        /// `gap`, `split`, `race`).
        case asked
        /// A head has come: `status`, `decision` (`begin`, `resume`, `compare`, `prove`, `check`,
        /// `complete`, `ask-again`, `redirect`, `fail`), `error` where it is one.
        case answered
        /// The bytes that come differ from those on disk: `at`, the first that does.
        case differs
        /// The bytes that come are those on disk: the download goes on behind them.
        case proven
        /// A connection has ended: `bytes` it has brought, `error` where it was cut short, `cut`
        /// where idown has ended it.
        case ended
        /// A host has refused one more connection: `host`.
        case refused
        /// Another source is asked: `source`, counted from 0 for the URL, `why`, what the one before
        /// has come to, `anew` where the bytes on disk were given up.
        case source
        /// All bytes are there and fit what is known of them: `bytes`.
        case verified
        /// The attempt is over without the file: `error`, `message`.
        case failed
        /// The attempt was stopped, or steps aside: `why`.
        case stopped
    }

    package enum Detail: Hashable, Sendable {
        case text(String)
        case number(Int64)
        case flag(Bool)
    }

    /// Entries of one task.
    package static let mostOfTask = 200
    /// Entries of all tasks.
    package static let mostOfAll = 20_000

    private var entries: [TaskID: [Entry]] = [:]
    /// The tasks in the order of their last entries, the oldest first; each once.
    private var order: [TaskID] = []
    private var count = 0

    package init() {}

    /// What is kept of a task, the oldest first.
    package func entries(of task: TaskID) -> [Entry] { entries[task] ?? [] }

    /// How many entries are kept of all tasks.
    package var total: Int { count }

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
        // The task whose last entry is the oldest goes as a whole: half a story explains nothing.
        while count > Self.mostOfAll, let oldest = order.first { forget(oldest) }
    }

    /// The task is over, or gone.
    package mutating func forget(_ task: TaskID) {
        guard let gone = entries.removeValue(forKey: task) else { return }
        count -= gone.count
        order.removeAll { $0 == task }
    }
}
