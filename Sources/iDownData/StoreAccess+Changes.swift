// SPDX-License-Identifier: Apache-2.0

import GRDB
package import iDownState

/// The numbers that a commit gives.
final class CommitNumbers {
    /// Nil until a body has changed what clients see of a task.
    var serial: Int64?
    /// The id of the next task; nil until a body has added one.
    var nextID: Int64?
}

/// The newest serial of a list, and which list it is.
package struct ListPosition: Hashable, Sendable {
    /// The id of the list, which changes when the list is made anew or replaced by an older copy.
    package let list: String
    package let serial: Int64
}

/// The place of a task in the order of the last changes.
package struct ChangePlace: Hashable, Sendable {
    package let serial: Int64
    /// The number of a task; `.max` for the place behind all tasks with the serial.
    package let id: Int64

    package init(serial: Int64, id: Int64 = .max) {
        self.serial = serial
        self.id = id
    }
}

extension StoreAccess {
    /// Returns which list this is, and its newest serial.
    package func position() throws(StoreFailure) -> ListPosition {
        let row = try listRow(.list)
        return ListPosition(list: text(row, 0), serial: integer(row, 1))
    }

    /// The only row of the table `list`.
    fileprivate func listRow(
        _ query: Query,
        _ arguments: StatementArguments = StatementArguments()
    ) throws(StoreFailure) -> Row {
        guard let row = try first(query, arguments) else {
            throw .corruptRecord(id: 0, column: "list")
        }
        return row
    }

    /// Whether ``removals(since:)`` knows all removals after this serial; they are known after 0,
    /// which stands for the empty list.
    package func knowsRemovals(since serial: Int64) throws(StoreFailure) -> Bool {
        guard serial != 0 else { return true }
        let row = try listRow(.list)
        return serial >= integer(row, 3) && serial <= integer(row, 1)
    }

    /// Calls `body` with each task that has changed after a place, in the order of the last changes.
    ///
    /// - Parameters:
    ///   - place: starts behind it.
    ///   - body: receives each task; returns whether to go on.
    /// - Throws: `StoreFailure.database`, or what `body` throws.
    package func forEachTask(
        changedAfter place: ChangePlace,
        _ body: (TaskRecord) throws -> Bool
    ) throws {
        guard try forEachRecord(TaskColumn.selectChangedWith, [place.serial, place.id], body)
        else { return }
        try forEachRecord(TaskColumn.selectChangedAfter, [place.serial], body)
    }

    /// Returns the tasks that were removed after this serial, in the order of the removals.
    package func removals(since serial: Int64) throws(StoreFailure) -> [TaskID] {
        guard serial != 0 else { return [] }
        return try ids(.removals, [serial])
    }
}

extension StoreAccess where Right == ReadWrite {
    /// The least number of removals that are remembered.
    private static var rememberedRemovals: Int64 { 100_000 }

    /// The number of removals that are forgotten together.
    private static var forgettingStep: Int64 { 1_000 }

    /// Returns the serial of this transaction: higher than that of every commit before it.
    package func makeSerial() throws(StoreFailure) -> Int64 {
        if let serial = numbers.serial { return serial }
        let reserved = try translatingErrors { try ids.reserveSerial() }
        let serial = integer(try listRow(.takeSerial, [reserved]), 0)
        ids.noteSerial(serial)
        numbers.serial = serial
        return serial
    }

    /// Remembers that a task left the list in this transaction.
    package func noteRemoval(of id: TaskID) throws(StoreFailure) {
        try execute(Query.insertRemoval.rawValue, [try makeSerial(), id.rawValue])
        let number = database.lastInsertedRowID
        guard number % Self.forgettingStep == 0, number > Self.rememberedRemovals else { return }
        let last = number - Self.rememberedRemovals
        try execute(Query.noteForgotten.rawValue, [last])
        try execute(Query.forgetRemovals.rawValue, [last])
    }

    /// Makes sure that this list has a higher serial than a list that was lost.
    ///
    /// A list that was restored from a copy, with the file of the ids or without, gets a new id, so
    /// that no client continues from changes that the copy does not have.
    func alignSerial() throws {
        let known = ids.serials
        // A damaged list may have lost the row.
        try execute(Query.insertList.rawValue, [])
        let row = try listRow(.list)
        let (serial, reserved, changeTime) = (integer(row, 1), integer(row, 2), integer(row, 4))
        // Versions before 16 kept no time.
        let isCopy = changeTime != 0 && changeTime != ids.changeTime
        let newest = try Int64.fetchOne(database, sql: Query.newestSerial.rawValue) ?? 0
        if isCopy || reserved < known.bound || serial < known.reached || serial < newest {
            let first = min(max(known.bound, known.reached, serial, newest), .max / 2) + 1
            try execute(Query.renewList.rawValue, [first, known.bound])
            ids.noteSerial(first)
        } else {
            ids.noteSerial(serial)
        }
    }
}
