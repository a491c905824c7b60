// SPDX-License-Identifier: Apache-2.0

package import iDownState

/// A search in the list of tasks: which tasks, in which order, and which page of them.
package struct TaskSearch: Hashable, Sendable {
    /// The key by which tasks are ordered; equal ones are ordered by the time of adding.
    package enum Order: String, CaseIterable, Sendable {
        case added, name, host, size, state, progress, priority
        case timeLeft = "time-left"
    }

    /// The application that added a task.
    package enum Adder: Hashable, Sendable {
        /// An application by its id; empty if it is unknown.
        case application(String)
        /// An application from a sandbox, or the connection of one, by the mark of its tasks.
        case owner(String)
    }

    /// The states of the tasks to find.
    package var states = Set(TaskState.Kind.allCases)
    /// The text that the name or the URL must contain; nil matches all tasks.
    package var text: String?
    /// Whether the URL is searched too, including its query.
    package var searchesURLs = true
    /// The application whose tasks to find; nil finds all tasks.
    package var adder: Adder?
    package var order = Order.added
    package var isDescending = false
    /// The first tasks in the order of the time left: the store does not know how fast tasks run.
    package var first: [TaskID] = []
    /// The progress of running tasks: the store knows only that of their last checkpoints.
    package var progress: [TaskID: Double] = [:]
    /// How many of the matching tasks to skip.
    package var offset = 0
    /// Return at most this many tasks.
    package var limit = 1_000

    package init() {}
}

extension TaskSearch {
    /// The tables to read, the one to scan first.
    private var tables: String {
        needsText ? "taskText CROSS JOIN task ON task.id = taskText.id" : "task"
    }

    private var needsText: Bool { text != nil || order == .name }

    /// The condition; `?1` is the text folded like a name, `?2` folded like a URL, `?3` the adder.
    private var condition: String {
        var conditions = ["intent IS NOT 'remove'"]
        if states.count < TaskState.Kind.allCases.count {
            let names = states.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
            conditions.append("state IN (\(names))")
        }
        switch adder {
        case .application: conditions.append("coalesce(task.addedBy, '') = ?3")
        case .owner: conditions.append("task.owner = ?3")
        case nil: break
        }
        if text != nil {
            conditions.append(
                searchesURLs
                    ? "(instr(taskText.name, ?1) > 0 OR instr(taskText.url, ?2) > 0)"
                    : "(instr(taskText.name, ?1) > 0 AND ?2 IS NOT NULL)"
            )
        }
        return conditions.joined(separator: " AND ")
    }

    private var ordering: String {
        let direction = isDescending ? " DESC" : ""
        let states = TaskState.Kind.allCases.enumerated()
            .map { "WHEN '\($1.rawValue)' THEN \($0)" }.joined(separator: " ")
        return switch order {
        case .added: "task.id\(direction)"
        case .name: "taskText.name\(direction), taskText.id"
        case .host: "\(Self.host)\(direction), task.id"
        case .size: "coalesce(total, -1)\(direction), task.id"
        case .state: "CASE state \(states) END\(direction), task.id"
        case .progress: "\(presentProgress)\(direction), task.id"
        case .priority: "priority\(direction), task.id"
        case .timeLeft where first.isEmpty: "task.id"
        case .timeLeft: "\(rank), task.id"
        }
    }

    /// The place among the first tasks; all others share the place behind them.
    private var rank: String {
        let places = first.enumerated().map { "WHEN \($1.rawValue) THEN \($0)" }
        return "CASE task.id \(places.joined(separator: " ")) ELSE \(first.count) END"
    }

    /// The host of the URL with its port, as the list shows it: the text between `://`, or the
    /// login after it, and the first slash of the path, which every recorded URL has.
    ///
    /// A login is looked for only if the URL may have one, because that takes half of the time.
    private static let host: String = {
        let start = "instr(task.url, '://') + 3"
        let host = "substr(task.url, \(start), instr(substr(task.url, \(start)), '/') - 1)"
        let bare = "substr(\(host), instr(\(host), '@') + 1)"
        return "CASE instr(task.url, '@') WHEN 0 THEN \(host) ELSE \(bare) END"
    }()

    /// The same value as the D-Bus property Progress.
    private var presentProgress: String {
        guard !progress.isEmpty else { return Self.recordedProgress }
        let values = progress.map { "WHEN \($0.rawValue) THEN \($1)" }
        let recorded = Self.recordedProgress
        let running = "CASE task.id \(values.joined(separator: " ")) ELSE \(recorded) END"
        return "CASE state WHEN 'downloading' THEN \(running) ELSE \(recorded) END"
    }

    private static let recordedProgress =
        "CASE WHEN total IS NULL THEN -1.0 WHEN total = 0 THEN 1.0 ELSE bytesOnDisk * 1.0 / total END"

    /// The statement for the ids of one page.
    var pageStatement: String {
        """
        SELECT task.id FROM \(tables) WHERE \(condition)
        ORDER BY \(ordering) LIMIT \(max(limit, 0)) OFFSET \(max(offset, 0))
        """
    }

    /// The statement for the rows of one page.
    ///
    /// Only ids are sorted. SQLite scans a limited subquery in its order, and CROSS JOIN keeps it
    /// the outer loop.
    var recordsStatement: String {
        "\(TaskColumn.selectJoined) FROM (\(pageStatement)) AS page CROSS JOIN task ON task.id = page.id"
    }

    /// The statement that counts the tasks on all pages.
    var countStatement: String { "SELECT count(*) FROM \(tables) WHERE \(condition)" }
}
