// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
package import iDownState

extension StoreAccess {
    /// The task, also one with the intent to remove, which everybody outside takes for gone.
    package func task(_ id: TaskID) throws(StoreFailure) -> TaskRecord? {
        try translatingErrors {
            let statement = try database.cachedStatement(sql: TaskColumn.selectOne)
            // The first column stands for the row: a Row costs as much as the record.
            let ids = try Int64.fetchCursor(statement, arguments: [id.rawValue])
            // With its cursor the statement leaves the row.
            return try withExtendedLifetime(ids) {
                try ids.next().map { _ in try TaskRow(of: statement).record() }
            }
        }
    }

    /// All tasks but those with the intent to remove, in order of ids.
    ///
    /// A row that cannot be read is left out: one bad row must not hide the others.
    package func tasks() throws(StoreFailure) -> [TaskRecord] {
        var records: [TaskRecord] = []
        try forEachTask { record in
            records.append(record)
            return true
        }
        return records
    }

    /// The same tasks as `tasks`, one by one, so that they need not stand in memory at once.
    ///
    /// - Parameters:
    ///   - first: goes on behind this id; nil begins with the first.
    ///   - body: called for each; answers whether the walk goes on.
    /// - Throws: `StoreFailure.database`.
    package func forEachTask(
        after first: TaskID? = nil,
        _ body: (TaskRecord) -> Bool
    ) throws(StoreFailure) {
        try translatingErrors {
            let statement = try database.cachedStatement(sql: TaskColumn.selectInOrder)
            let ids = try Int64.fetchCursor(statement, arguments: [first?.rawValue ?? 0])
            while try ids.next() != nil {
                guard let record = try? TaskRow(of: statement).record(), record.intent != .remove
                else { continue }
                guard body(record) else { return }
            }
        }
    }

    /// How many tasks there are, those with the intent to remove left out; needs no search.
    package func counts() throws(StoreFailure) -> TaskCounts {
        try translatingErrors {
            var counts = TaskCounts()
            let rows = try rows(Query.counts.rawValue)
            while let row = try rows.next() {
                guard let kind = TaskState.Kind(rawValue: text(row, 0)) else { continue }
                counts[kind] = Int(clamping: integer(row, 1))
            }
            return counts
        }
    }

    /// The oldest unfinished task with this URL and folder: what another AddURL means.
    ///
    /// Unfinished are waiting, downloading, paused and failed tasks without the intent to remove.
    ///
    /// - Parameters:
    ///   - url: in normal form, user and password included.
    ///   - directory: absolute, links resolved.
    ///   - fileName: nil takes any name; else the task must have been added with this name, or,
    ///     if added with none, must have got it from the server.
    ///   - owner: nil takes anybody's; else it must have been added by this one.
    ///   - keptLogins: where those are kept that may be this URL's.
    /// - Returns: Nil where a new task is to be added.
    /// - Throws: `StoreFailure.database`.
    package func unfinishedTask(
        url: String,
        directory: String,
        fileName: String?,
        owner: String? = nil,
        keptLogins: Set<String> = []
    ) throws(StoreFailure) -> TaskID? {
        let found = try unfinishedTask(url, directory, fileName, owner) { $0?.isForURL != true }
        guard found == nil, !keptLogins.isEmpty else { return found }
        let bare = TaskRequest.withoutLogin(url)
        return try unfinishedTask(bare, directory, fileName, owner) { key in
            key.map { $0.isForURL && keptLogins.contains($0.id) } ?? false
        }
    }

    private func unfinishedTask(
        _ url: String,
        _ directory: String,
        _ fileName: String?,
        _ owner: String?,
        _ isMeant: (LoginKey?) -> Bool
    ) throws(StoreFailure) -> TaskID? {
        try translatingErrors {
            let rows = try rows(Query.unfinished.rawValue, [URLHash.value(of: url), directory])
            while let row = try rows.next() {
                guard text(row, 1) == url, isMeant(LoginKey(rawValue: text(row, 5))) else {
                    continue
                }
                let name: DatabaseValue = row[2]
                let given = name.isNull ? text(row, 3) : text(row, 2)
                // Byte by byte: two spellings of one text are two names.
                guard fileName.map({ $0.utf8.elementsEqual(given.utf8) }) ?? true else { continue }
                guard owner == nil || owner == text(row, 4) else { continue }
                return TaskID(rawValue: integer(row, 0))
            }
            return nil
        }
    }

    /// The tasks in one of these states, in order of ids; none with the intent to remove.
    package func ids(in kinds: Set<TaskState.Kind>) throws(StoreFailure) -> [TaskID] {
        var ids: [TaskID] = []
        for kind in kinds {
            try forEachRow(.inState, [kind.rawValue]) { id, _ in ids.append(id) }
        }
        return ids.sorted()
    }

    /// The downloading tasks, in the order of their starts.
    package func running() throws(StoreFailure) -> [Scheduler.Running] {
        var running: [Scheduler.Running] = []
        try forEachRow(.running) { id, row in
            let priority = Int32(clamping: integer(row, 1))
            running.append(.init(id: id, priority: priority, startOrder: integer(row, 2)))
        }
        return running
    }

    /// The tasks whose files are to be dealt with, in order of ids.
    package func withOpenIntent() throws(StoreFailure) -> [TaskRecord] {
        try records(.withIntent)
    }

    /// The tasks whose files are about to get their names, or may have them.
    package func withOpenPublication() throws(StoreFailure) -> [TaskRecord] {
        try records(.withPublication)
    }

    /// The unfinished tasks that have a file, those with the intent to remove left out.
    package func unfinishedWithFile() throws(StoreFailure) -> [TaskRecord] {
        try records(.unfinishedWithFile)
    }

    /// The completed tasks, the first finished first.
    package func finished(
        limit: Int
    ) throws(StoreFailure) -> [(id: TaskID, at: WallTime)] {
        var finished: [(id: TaskID, at: WallTime)] = []
        try forEachRow(.finished, [limit]) { id, row in
            finished.append((id, WallTime(microseconds: integer(row, 1))))
        }
        return finished
    }

    /// What a call with this token was answered; nil for a new token.
    package func taskIDs(forToken token: String) throws(StoreFailure) -> [TaskID]? {
        guard let row = try first(Query.idsForToken.rawValue, [token]) else { return nil }
        let stored: DatabaseValue = row[0]
        guard let data = Data.fromDatabaseValue(stored), let ids = TaskIDList.ids(Array(data))
        else { throw .corruptRecord(id: 0, column: "token") }
        return ids
    }

    // MARK: Rows

    /// The records that a query for ids finds, in order of ids; unreadable ones are left out.
    private func records(_ query: Query) throws(StoreFailure) -> [TaskRecord] {
        var ids: [TaskID] = []
        try forEachRow(query) { id, _ in ids.append(id) }
        return ids.sorted().compactMap { id in try? task(id) }
    }

    /// Each row of a query whose first column is an id.
    func forEachRow(
        _ query: Query,
        _ arguments: StatementArguments = StatementArguments(),
        _ body: (TaskID, Row) -> Void
    ) throws(StoreFailure) {
        try translatingErrors {
            let rows = try rows(query.rawValue, arguments)
            while let row = try rows.next() {
                guard let id = TaskID(rawValue: integer(row, 0)) else { continue }
                body(id, row)
            }
        }
    }

    private func first(
        _ sql: String,
        _ arguments: StatementArguments
    ) throws(StoreFailure) -> Row? {
        try translatingErrors {
            let statement = try database.cachedStatement(sql: sql)
            return try Row.fetchOne(statement, arguments: arguments)
        }
    }

    /// The column as an integer, 0 where it is none, where Row's own conversions trap.
    func integer(_ row: Row, _ index: Int) -> Int64 {
        let value: DatabaseValue = row[index]
        return Int64.fromDatabaseValue(value) ?? 0
    }

    func text(_ row: Row, _ index: Int) -> String {
        let value: DatabaseValue = row[index]
        return String.fromDatabaseValue(value) ?? ""
    }
}
