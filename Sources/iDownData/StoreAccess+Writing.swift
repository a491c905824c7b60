// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
package import iDownState

extension StoreAccess where Right == ReadWrite {
    /// A number that no task ever had; it is taken only if the change is committed.
    package func makeID() throws(StoreFailure) -> TaskID {
        let number = try integer(.takeNextID)
        guard let number, let id = TaskID(rawValue: number) else { throw .idsExhausted }
        do {
            try ids.cover(number)
        } catch {
            throw .file(error)
        }
        return id
    }

    /// Stores a new task; its id comes from `makeID`.
    package func insert(_ record: TaskRecord) throws(StoreFailure) {
        let (sql, arguments) = TaskColumn.insert(record)
        try execute(sql, arguments)
        try execute(Query.insertText.rawValue, texts(of: record))
    }

    /// Stores what has changed in the task; nothing happens where there is no such task.
    ///
    /// - Parameters:
    ///   - record: as it is to be.
    ///   - before: as it was read in this transaction.
    /// - Throws: `StoreFailure.database`.
    package func update(
        _ record: TaskRecord,
        from before: TaskRecord
    ) throws(StoreFailure) {
        guard let (sql, arguments) = TaskColumn.update(record, from: before) else { return }
        try execute(sql, arguments)
        guard
            before.displayName != record.displayName
                || before.request.url != record.request.url
        else { return }
        try execute(Query.updateText.rawValue, texts(of: record))
    }

    private func texts(of record: TaskRecord) -> StatementArguments {
        [
            record.id.rawValue, FoldedText.fold(record.displayName),
            FoldedText.foldURL(record.request.urlWithoutLogin),
        ]
    }

    /// Stores a checkpoint: only the map and the count of bytes.
    package func saveSegments(_ id: TaskID, _ segments: SegmentMap) throws(StoreFailure) {
        let bytes = Data(segments.bytes)
        try execute(Query.saveSegments.rawValue, [bytes, segments.byteCount, id.rawValue])
    }

    /// Forgets the task, whose id is not given again; nothing happens where there is none.
    package func delete(_ id: TaskID) throws(StoreFailure) {
        try execute(Query.delete.rawValue, [id.rawValue])
    }

    /// Has a task count as failed if it cannot be read, and nothing else can become of it.
    ///
    /// - Returns: whether it is such a one.
    package func failIfUnreadable(_ id: TaskID) throws(StoreFailure) -> Bool {
        do {
            _ = try task(id)
            return false
        } catch {
            guard case .corruptRecord = error else { throw error }
        }
        return try execute(Query.fail.rawValue, [id.rawValue]) > 0
    }

    /// Keeps the answer to a call with this token, for ever.
    ///
    /// - Throws: SQLite's constraint failure where the token is known: look first.
    package func remember(token: String, ids: [TaskID]) throws(StoreFailure) {
        try execute(Query.remember.rawValue, [token, Data(TaskIDList.bytes(ids))])
    }
}

// The counter of ids.
extension StoreAccess {
    /// The number of the task that is added next.
    func nextID() throws(StoreFailure) -> Int64 {
        guard let number = try integer(.nextID) else {
            throw .corruptRecord(id: 0, column: "nextID")
        }
        return number
    }

    func setNextID(_ number: Int64) throws(StoreFailure) {
        try execute(Query.setNextID.rawValue, [number])
    }

    /// The one integer that a statement answers; nil where it answers none.
    private func integer(_ query: Query) throws(StoreFailure) -> Int64? {
        try translatingErrors {
            let statement = try database.cachedStatement(sql: query.rawValue)
            // By way of DatabaseValue, since a direct conversion traps on another type.
            let value = try DatabaseValue.fetchOne(statement)
            return value.flatMap(Int64.fromDatabaseValue)
        }
    }
}
