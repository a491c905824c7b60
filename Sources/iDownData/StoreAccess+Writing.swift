// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
package import iDownState

extension StoreAccess where Right == ReadWrite {
    /// Returns an id that no task ever had; it is taken only if the change is committed.
    package func makeID() throws(StoreFailure) -> TaskID {
        if numbers.nextID == nil { numbers.nextID = try nextID() }
        guard let number = numbers.nextID, number < .max, let id = TaskID(rawValue: number)
        else { throw .idsExhausted }
        try translatingErrors { try ids.reserve(through: number) }
        numbers.nextID = number + 1
        return id
    }

    /// Stores which id is the next one, once for all tasks that the commit adds, and when the file
    /// of the ids was last changed.
    func keepNextID() throws(StoreFailure) {
        if let number = numbers.nextID { try setNextID(number) }
        try execute(Query.keepChangeTime.rawValue, [ids.changeTime])
    }

    /// Stores a new task, whose id comes from ``makeID()``.
    package func insert(_ record: TaskRecord) throws(StoreFailure) {
        let (sql, arguments) = TaskColumn.insert(record)
        try execute(sql, arguments)
        try execute(Query.insertText.rawValue, texts(of: record))
    }

    /// Stores the changed fields of a task; does nothing if the task does not exist.
    ///
    /// - Parameters:
    ///   - record: the task as it should be.
    ///   - before: the task as it was read in this transaction.
    /// - Throws: `StoreFailure.database`.
    package func update(_ record: TaskRecord, from before: TaskRecord) throws(StoreFailure) {
        guard let difference = Difference(record, from: before) else { return }
        try make(difference, where: "id = ?", record.id.rawValue.databaseValue)
        guard record.text != before.text else { return }
        try execute(Query.updateText.rawValue, texts(of: record))
    }

    /// Stores the changed fields of many tasks, of which most have changed alike.
    ///
    /// - Parameter tasks: each task as it should be, and as it was read in this transaction.
    /// - Throws: `StoreFailure.database`.
    package func update(
        _ tasks: some Sequence<(record: TaskRecord, before: TaskRecord)>
    ) throws(StoreFailure) {
        var alike: [(difference: Difference, ids: [Int64])] = []
        for (record, before) in tasks {
            guard let difference = Difference(record, from: before) else { continue }
            if let place = alike.lastIndex(where: { $0.difference == difference }) {
                alike[place].ids.append(record.id.rawValue)
            } else {
                alike.append((difference, [record.id.rawValue]))
            }
            // Tasks that have each changed in their own way are not compared with all others.
            if alike.count > Self.mostAlike { try update(alike: [alike.removeFirst()]) }
            guard record.text != before.text else { continue }
            try execute(Query.updateText.rawValue, texts(of: record))
        }
        try update(alike: alike)
    }

    private static var mostAlike: Int { 8 }

    private func update(
        alike tasks: [(difference: Difference, ids: [Int64])]
    ) throws(StoreFailure) {
        for (difference, ids) in tasks {
            let list = "[\(ids.map(String.init).joined(separator: ","))]"
            let condition = "id IN (SELECT value FROM json_each(?))"
            try make(difference, where: condition, list.databaseValue)
        }
    }

    /// Makes a difference in the tasks of a condition, which names them by its one argument.
    private func make(
        _ difference: Difference,
        where condition: String,
        _ ids: DatabaseValue
    ) throws(StoreFailure) {
        let (start, isKept) = TaskColumn.updateStatement(difference.columns)
        let sql = "\(start) WHERE \(condition)"
        // From an array of one known type GRDB would read each by a key path, which takes longer than
        // to bind it.
        let values = (difference.values + [ids]).map { $0 as (any DatabaseValueConvertible)? }
        let arguments = StatementArguments(values)
        guard !isKept else { return _ = try execute(sql, arguments) }
        try translatingErrors { try database.execute(sql: sql, arguments: arguments) }
    }

    private func texts(of record: TaskRecord) -> StatementArguments {
        [
            record.id.rawValue, FoldedText.fold(record.displayName),
            FoldedText.foldURL(record.request.urlWithoutLogin),
        ]
    }

    /// Deletes the task, whose id is not given again; does nothing if it does not exist.
    package func delete(_ id: TaskID) throws(StoreFailure) {
        try execute(Query.delete.rawValue, [id.rawValue])
    }

    /// Marks a task as failed if its record cannot be read.
    ///
    /// - Returns: whether the task was unreadable.
    package func failIfUnreadable(_ id: TaskID) throws(StoreFailure) -> Bool {
        do {
            _ = try task(id)
            return false
        } catch {
            guard case .corruptRecord = error else { throw error }
        }
        return try execute(Query.fail.rawValue, [id.rawValue]) > 0
    }

    /// Stores the answer to a call with this token, for ever.
    ///
    /// - Throws: SQLite's constraint error if the token is known already; call
    ///   ``taskIDs(forToken:)`` first.
    package func remember(token: String, ids: [TaskID]) throws(StoreFailure) {
        try execute(Query.insertToken.rawValue, [token, Data(TaskIDList.bytes(ids))])
    }
}

// The counter of ids.
extension StoreAccess {
    /// Returns the id of the next task that is added.
    func nextID() throws(StoreFailure) -> Int64 {
        // Converted from DatabaseValue, because GRDB's direct conversion traps on another type.
        let stored: DatabaseValue? = try first(.nextID)?[0]
        guard let number = stored.flatMap(Int64.fromDatabaseValue)
        else { throw .corruptRecord(id: 0, column: "nextID") }
        return number
    }

    func setNextID(_ number: Int64) throws(StoreFailure) {
        try execute(Query.setNextID.rawValue, [number])
    }
}

extension TaskRecord {
    /// The texts that a search looks in; stored folded, in a table of their own.
    fileprivate var text: [String?] { [file?.name, request.fileName, request.url] }
}
