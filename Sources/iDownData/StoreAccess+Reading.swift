// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
package import iDownState

extension StoreAccess {
    /// Returns the task; also one with the intent to remove, which clients do not see any more.
    package func task(_ id: TaskID) throws(StoreFailure) -> TaskRecord? {
        try translatingErrors {
            let statement = try database.cachedStatement(sql: TaskColumn.selectOne)
            // Fetches only the first column; making a GRDB Row would cost as much as the record
            // itself.
            let ids = try Int64.fetchCursor(statement, arguments: [id.rawValue])
            // The cursor must live until the record is read: the statement leaves the row with it.
            return try withExtendedLifetime(ids) {
                try ids.next().map { _ in try TaskRow(of: statement).record() }
            }
        }
    }

    /// Returns all tasks except those with the intent to remove, in order of ids.
    ///
    /// A row that cannot be read is left out, so that it does not hide the others.
    package func tasks() throws -> [TaskRecord] {
        var records: [TaskRecord] = []
        try forEachTask { record in
            records.append(record)
            return true
        }
        return records
    }

    /// Calls `body` with each task that ``tasks()`` would return, so that they need not be in
    /// memory at once.
    ///
    /// - Parameter body: receives each task; returns whether to go on.
    /// - Throws: `StoreFailure.database`, or what `body` throws.
    package func forEachTask(_ body: (TaskRecord) throws -> Bool) throws {
        try forEachRecord(TaskColumn.selectInOrder) { record in
            try record.intent == .remove || body(record)
        }
    }

    /// Calls `body` with each task in a state, in order of ids, but for those with the intent to remove
    /// and those that cannot be read.
    ///
    /// - Parameters:
    ///   - kind: the state.
    ///   - body: receives each task; changes no task; returns whether to go on.
    /// - Throws: `StoreFailure.database`, or what `body` throws.
    package func forEachTask(in kind: TaskState.Kind, _ body: (TaskRecord) throws -> Bool) throws {
        try forEachRecord(TaskColumn.selectInState, [kind.rawValue], body)
    }

    /// Calls `body` with each task that a statement finds, but for those that cannot be read.
    ///
    /// - Parameters:
    ///   - sql: the statement, whose columns are those of a task.
    ///   - arguments: the statement's arguments.
    ///   - isKept: whether the connection keeps the statement prepared.
    ///   - body: receives each task; returns whether to go on.
    /// - Returns: whether `body` has received all tasks.
    /// - Throws: `StoreFailure.database`, or what `body` throws.
    @discardableResult
    func forEachRecord(
        _ sql: String,
        _ arguments: StatementArguments = StatementArguments(),
        isKept: Bool = true,
        _ body: (TaskRecord) throws -> Bool
    ) throws -> Bool {
        let (statement, ids) = try translatingErrors {
            let statement =
                try isKept ? database.cachedStatement(sql: sql) : database.makeStatement(sql: sql)
            return (statement, try Int64.fetchCursor(statement, arguments: arguments))
        }
        while try translatingErrors({ try ids.next() }) != nil {
            guard let record = try? TaskRow(of: statement).record() else { continue }
            guard try body(record) else { return false }
        }
        return true
    }

    /// Calls `body` with each of these tasks, in the order of the ids, without those with the intent to
    /// remove.
    ///
    /// An id that is not in the list, and a row that cannot be read, are left out.
    ///
    /// - Parameters:
    ///   - ids: the tasks.
    ///   - body: receives each task; returns whether to go on.
    /// - Throws: `StoreFailure.database`, or what `body` throws.
    package func forEachTask(of ids: [TaskID], _ body: (TaskRecord) throws -> Bool) throws {
        for id in ids {
            let record: TaskRecord?
            do {
                record = try task(id)
            } catch {
                guard case .corruptRecord = error else { throw error }
                continue
            }
            guard let record, record.intent != .remove else { continue }
            guard try body(record) else { return }
        }
    }

    /// Returns how many tasks there are in each state, without those with the intent to remove.
    ///
    /// The counts are stored, so that no scan is needed.
    package func counts() throws(StoreFailure) -> TaskCounts {
        try translatingErrors {
            var counts = TaskCounts()
            let rows = try rows(.counts)
            while let row = try rows.next() {
                guard let kind = TaskState.Kind(rawValue: text(row, 0)) else { continue }
                counts[kind] = Int(clamping: integer(row, 1))
            }
            return counts
        }
    }

    /// Returns how many tasks an application from a sandbox has in the list.
    package func count(ownedBy owner: String) throws(StoreFailure) -> Int {
        try first(.countOfOwner, [owner]).map { Int(clamping: integer($0, 0)) } ?? 0
    }

    /// Returns the oldest unfinished task with this URL and folder, which another AddURL call for
    /// them refers to.
    ///
    /// Waiting, downloading, paused and failed tasks without the intent to remove are unfinished.
    ///
    /// - Parameters:
    ///   - url: the normalized URL, including user and password.
    ///   - directory: the folder, absolute, with symbolic links resolved.
    ///   - fileName: the name with which the task was added; else the one that the server gave it,
    ///     or that its URL suggests until a server has answered. Nil matches any name.
    ///   - owner: the sandboxed application that the task belongs to; nil for the user's own tasks,
    ///     because an application reads the files of its own tasks and may have prepared them.
    ///   - keptLogins: the ids of kept logins that may be this URL's.
    /// - Returns: nil if there is no such task.
    /// - Throws: `StoreFailure.database`.
    package func unfinishedTask(
        url: String,
        directory: String,
        fileName: String?,
        owner: String? = nil,
        keptLogins: Set<String> = []
    ) throws(StoreFailure) -> TaskID? {
        let found = try unfinishedTasks(url, directory, fileName, owner, limit: 1) { key in
            key?.isForURL != true
        }
        guard found.isEmpty, !keptLogins.isEmpty else { return found.first }
        let bare = TaskRequest.withoutLogin(url)
        return try unfinishedTasks(bare, directory, fileName, owner, limit: 1) { key in
            key.map { $0.isForURL && keptLogins.contains($0.id) } ?? false
        }.first
    }

    /// Returns the unfinished tasks with a URL in a folder, in order of ids.
    ///
    /// - Parameters:
    ///   - url: without a login of its own.
    ///   - directory: the folder.
    ///   - fileName: the name, where one is asked for.
    /// - Returns: the tasks' ids.
    /// - Throws: `StoreFailure`.
    package func unfinishedTasks(
        url: String,
        directory: String,
        fileName: String?
    ) throws(StoreFailure) -> [TaskID] {
        try unfinishedTasks(url, directory, fileName, nil) { $0?.isForURL != true }
    }

    private func unfinishedTasks(
        _ url: String,
        _ directory: String,
        _ fileName: String?,
        _ owner: String?,
        limit: Int = 100,
        _ isMeant: (LoginKey?) -> Bool
    ) throws(StoreFailure) -> [TaskID] {
        try translatingErrors {
            var found: [TaskID] = []
            // What clients are shown until a server has answered.
            let suggested = TaskRequest(url: url, directory: "").suggestedName
            let rows = try rows(.unfinished, [URLHash.value(of: url), directory])
            while found.count < limit, let row = try rows.next() {
                guard text(row, 1) == url, isMeant(LoginKey(rawValue: text(row, 5))) else {
                    continue
                }
                guard text(row, 4) == owner ?? "", let id = TaskID(rawValue: integer(row, 0)) else {
                    continue
                }
                let given = [text(row, 2), text(row, 3)].first { !$0.isEmpty }
                // Compared byte by byte, because two encodings of one text are two file names.
                if let fileName, !fileName.utf8.elementsEqual((given ?? suggested).utf8) {
                    continue
                }
                // A transfer that runs, or whose answer is there, has its name from the server. An
                // answer that only offered a file gave none.
                if fileName != nil, given == nil, let record = try task(id),
                    record.state == .downloading
                        || record.remote.isOnRecord && !record.remote.needsProof
                {
                    continue
                }
                found.append(id)
            }
            return found
        }
    }

    /// Returns all tasks in order of ids, without those with the intent to remove.
    package func allIDs() throws(StoreFailure) -> [TaskID] {
        var all: [TaskID] = []
        for kind in TaskState.Kind.allCases { all += try ids(.inState, [kind.rawValue]) }
        return all.sorted()
    }

    /// Returns the downloading tasks, the last-started of the lowest priority first.
    package func running() throws(StoreFailure) -> [TaskID] { try ids(.running) }

    /// Returns the tasks with an intent, whose files must still be published, removed or discarded,
    /// in order of ids.
    package func tasksWithIntent() throws(StoreFailure) -> [TaskRecord] { try records(.withIntent) }

    /// Returns the tasks with the intent to publish; their files may have their final names
    /// already.
    package func tasksToPublish() throws(StoreFailure) -> [TaskRecord] {
        try records(.withPublication)
    }

    /// Returns the tasks whose files are being moved, or whose move has left a file behind.
    package func movingTasks() throws(StoreFailure) -> [TaskID] { try ids(.moving) }

    /// Returns the unfinished tasks that have a file, without those with the intent to remove.
    package func unfinishedTasksWithFile() throws(StoreFailure) -> [TaskRecord] {
        try records(.unfinishedWithFile)
    }

    /// Returns tasks that were completed within a time, the earliest first.
    package func completedTasks(
        finishedFrom start: WallTime,
        to end: WallTime,
        limit: Int
    ) throws(StoreFailure) -> [TaskID] {
        try ids(.finished, [start.microseconds, end.microseconds, limit])
    }

    /// Returns the ids with which a call with this token was answered; nil for a new token.
    package func taskIDs(forToken token: String) throws(StoreFailure) -> [TaskID]? {
        guard let row = try first(.idsForToken, [token]) else { return nil }
        let stored: DatabaseValue = row[0]
        guard let data = Data.fromDatabaseValue(stored), let ids = TaskIDList.ids(Array(data))
        else { throw .corruptRecord(id: 0, column: "token") }
        return ids
    }

    // MARK: Rows

    /// Returns the records of the ids that a query finds, in order of ids; unreadable ones are left
    /// out.
    func records(
        _ query: Query,
        _ arguments: StatementArguments = StatementArguments()
    ) throws(StoreFailure) -> [TaskRecord] {
        try ids(query, arguments).sorted().compactMap { id in try? task(id) }
    }

    /// Returns the ids that a query finds in its first column, in the order of the rows.
    func ids(
        _ query: Query,
        _ arguments: StatementArguments = StatementArguments()
    ) throws(StoreFailure) -> [TaskID] {
        try values(query, arguments) { row in TaskID(rawValue: integer(row, 0)) }
    }

    /// Returns what `make` makes of each row that a query finds, without those of which it makes
    /// nothing.
    func values<Value>(
        _ query: Query,
        _ arguments: StatementArguments = StatementArguments(),
        _ make: (Row) -> Value?
    ) throws(StoreFailure) -> [Value] {
        try translatingErrors {
            var values: [Value] = []
            let rows = try rows(query, arguments)
            while let row = try rows.next() {
                if let value = make(row) { values.append(value) }
            }
            return values
        }
    }

    /// Returns a copy of the first row that a query finds.
    func first(
        _ query: Query,
        _ arguments: StatementArguments = StatementArguments()
    ) throws(StoreFailure) -> Row? {
        try translatingErrors {
            let statement = try database.cachedStatement(sql: query.rawValue)
            return try Row.fetchOne(statement, arguments: arguments)
        }
    }

    /// Returns the column as an integer, or 0 if it is none; Row's own conversions would trap.
    func integer(_ row: Row, _ index: Int) -> Int64 {
        let value: DatabaseValue = row[index]
        return Int64.fromDatabaseValue(value) ?? 0
    }

    func text(_ row: Row, _ index: Int) -> String {
        let value: DatabaseValue = row[index]
        return String.fromDatabaseValue(value) ?? ""
    }
}
