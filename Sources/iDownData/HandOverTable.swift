// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
package import iDownState

/// The state of a download that a browser has handed over under a token.
package enum HandOver: Hashable, Sendable {
    /// The browser has not confirmed or withdrawn it yet; without an answer it is confirmed at a
    /// time.
    case provisional(TaskID, confirmAt: WallTime)
    /// It is an ordinary task, which may have been removed since.
    case confirmed(TaskID)
    /// A task that was in the list before has taken its place.
    case joined(TaskID)
    /// The browser downloads the file itself; the token is never used again.
    case withdrawn
}

extension StoreAccess {
    /// The hand-overs of browsers.
    package var handOvers: HandOverTable<Right> { HandOverTable(store: self) }
}

/// The hand-overs of a store.
///
/// A provisional one has the row of its future task as JSON text. The table is valid only inside
/// the body whose access it belongs to.
package struct HandOverTable<Right> {
    fileprivate let store: StoreAccess<Right>

    /// Returns what has become of a hand-over; nil for a token that no hand-over has.
    package func find(_ token: String) throws(StoreFailure) -> HandOver? {
        guard let row = try store.first(.handOver, [token]) else { return nil }
        let id = TaskID(rawValue: store.integer(row, 1))
        return switch (store.text(row, 0), id) {
        case ("provisional", let id?):
            .provisional(id, confirmAt: WallTime(microseconds: store.integer(row, 2)))
        case ("confirmed", let id?): .confirmed(id)
        case ("joined", let id?): .joined(id)
        // A row that cannot be read must not add a task.
        default: .withdrawn
        }
    }

    /// Returns the future task of a provisional hand-over; nil if there is none.
    package func task(_ token: String) throws(StoreFailure) -> TaskRecord? {
        try translatingErrors {
            let statement = try store.database.cachedStatement(sql: TaskColumn.selectProvisional)
            let ids = try Int64.fetchCursor(statement, arguments: [token])
            return try withExtendedLifetime(ids) {
                try ids.next().map { _ in try TaskRow(of: statement).record() }
            }
        }
    }

    /// Returns unfinished tasks that the same profile of a browser has handed over from a page, the
    /// newest first; none where the token does not name a profile.
    ///
    /// - Parameters:
    ///   - token: the token of a hand-over; those of a profile begin with its UUID and a hyphen.
    ///   - page: the referrer of the tasks.
    /// - Returns: the tasks.
    /// - Throws: `StoreFailure`.
    package func unfinishedTasks(
        like token: String,
        from page: String
    ) throws(StoreFailure) -> [TaskRecord] {
        let profile = String(token.prefix(36))
        guard UUID(uuidString: profile) != nil, token.dropFirst(36).first == "-" else { return [] }
        let words: StatementArguments = ["\(profile)-", "\(profile).", page]
        var records: [TaskRecord] = []
        for id in try store.ids(.unfinishedHandOvers, words) {
            if let record = try store.task(id) { records.append(record) }
        }
        return records
    }

    /// Returns the provisional hand-overs that are confirmed next, with the times of that.
    package func provisional(
        limit: Int
    ) throws(StoreFailure) -> [(token: String, confirmAt: WallTime)] {
        try store.values(.provisionalHandOvers, [limit]) { row in
            (token: store.text(row, 0), confirmAt: WallTime(microseconds: store.integer(row, 1)))
        }
    }
}

extension HandOverTable where Right == ReadWrite {
    /// Stores a provisional hand-over.
    ///
    /// - Parameters:
    ///   - record: the future task, which has no bytes yet and whose id comes from ``makeID()``.
    ///   - token: a token that no hand-over has.
    ///   - time: when it is confirmed without an answer of the browser.
    /// - Throws: `StoreFailure`.
    package func keep(
        _ record: TaskRecord,
        token: String,
        confirmAt time: WallTime
    ) throws(StoreFailure) {
        let text = try translatingErrors { try TaskColumn.text(of: record) }
        try store.execute(
            Query.insertHandOver.rawValue,
            [token, "provisional", record.id.rawValue, time.microseconds, text]
        )
    }

    /// Stores that a hand-over is no longer provisional; deletes the row of its future task.
    package func settle(_ token: String, as handOver: HandOver) throws(StoreFailure) {
        let (state, id): (String, TaskID?) =
            switch handOver {
            case .provisional(let id, _): ("provisional", id)
            case .confirmed(let id): ("confirmed", id)
            case .joined(let id): ("joined", id)
            case .withdrawn: ("withdrawn", nil)
            }
        try store.execute(Query.insertHandOver.rawValue, [token, state, id?.rawValue, nil, nil])
    }

    /// Makes all other hand-overs that a task stands for its own, because the hand-over that it
    /// came with is settled otherwise.
    ///
    /// - Returns: whether there are any.
    package func passOn(_ task: TaskID) throws(StoreFailure) -> Bool {
        try store.execute(Query.passOnHandOver.rawValue, [task.rawValue]) > 0
    }

    /// Forgets a hand-over, so that its token is free again.
    package func forget(_ token: String) throws(StoreFailure) {
        try store.execute(Query.deleteHandOver.rawValue, [token])
    }
}

// The row of a task as text.
extension TaskColumn {
    /// Columns that JSON cannot hold; they are empty in a task without bytes.
    private static let blobs: Set<TaskColumn> = [.segments, .listedTasks]

    /// The columns of a record that are not null, as a JSON object.
    fileprivate static func text(of record: TaskRecord) throws -> String {
        var object: [String: JSONValue] = [:]
        for column in allCases where !blobs.contains(column) {
            switch column.value(of: record)?.databaseValue.storage {
            case .int64(let number): object[column.name] = .integer(number)
            case .double(let number): object[column.name] = .number(number)
            case .string(let text): object[column.name] = .text(text)
            case .blob, .null, nil: break
            }
        }
        return String(decoding: try JSONEncoder().encode(object), as: UTF8.self)
    }

    /// Selects the same columns as ``select`` from the text of a provisional hand-over.
    ///
    /// A column that an older idown did not write has the value of a migrated table.
    fileprivate static let selectProvisional: String = {
        let columns = allCases.map { column in
            if column == .segments { return "zeroblob(0)" }
            if blobs.contains(column) { return "NULL" }
            let value = "json_extract(record, '$.\(column.name)')"
            return olderValues[column].map { "coalesce(\(value), \($0))" } ?? value
        }
        return "SELECT \(columns.joined(separator: ", ")) FROM handOver"
            + " WHERE token = ? AND state = 'provisional' AND json_valid(record)"
    }()
}
