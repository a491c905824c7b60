// SPDX-License-Identifier: Apache-2.0

package import iDownState

/// Which tasks are looked for, in which order, and which part of them is wanted.
package struct TaskSearch: Hashable, Sendable {
    /// By what tasks are ordered; equal ones stand in the order of adding.
    package enum Order: String, CaseIterable, Sendable {
        case added, name, size, state, progress, priority
    }

    /// Tasks in one of these states.
    package var states = Set(TaskState.Kind.allCases)
    /// What the name or the URL holds; nil for anything.
    package var text: String?
    /// Whether the text is looked for in the URL as well, its query included.
    package var searchesURLs = true
    package var order = Order.added
    package var isDescending = false
    /// So many of those found are passed over.
    package var offset = 0
    /// The most tasks that are wanted.
    package var limit = 1_000

    package init() {}
}

extension TaskSearch {
    /// The tables, the one to walk through first.
    private var tables: String {
        needsText ? "taskText CROSS JOIN task ON task.id = taskText.id" : "task"
    }

    private var needsText: Bool { text != nil || order == .name }

    /// `?1` is the text as a name is folded, `?2` as a URL is.
    private var condition: String {
        var conditions = ["intent IS NOT 'remove'"]
        if states.count < TaskState.Kind.allCases.count {
            let names = states.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
            conditions.append("state IN (\(names))")
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
        case .size: "coalesce(total, -1)\(direction), task.id"
        case .state: "CASE state \(states) END\(direction), task.id"
        case .progress: "\(Self.progress)\(direction), task.id"
        case .priority: "priority\(direction), task.id"
        }
    }

    /// As the property Progress has it.
    private static let progress =
        "CASE WHEN total IS NULL THEN -1.0 WHEN total = 0 THEN 1.0 ELSE bytesOnDisk * 1.0 / total END"

    /// One page of ids.
    var pageStatement: String {
        """
        SELECT task.id FROM \(tables) WHERE \(condition)
        ORDER BY \(ordering) LIMIT \(max(limit, 0)) OFFSET \(max(offset, 0))
        """
    }

    /// One page of whole rows.
    ///
    /// Only ids are sorted; SQLite walks through a limited subquery in its order, and CROSS JOIN
    /// keeps it the outer one.
    var recordsStatement: String {
        "\(TaskColumn.selectJoined) FROM (\(pageStatement)) AS page CROSS JOIN task ON task.id = page.id"
    }

    /// How many there are in all.
    var countStatement: String { "SELECT count(*) FROM \(tables) WHERE \(condition)" }
}
