// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Synchronization

/// Connections that are needed for a moment: closed then, but kept as long as the store.
///
/// The queue of a connection has a value of GRDB's with it. When such a queue goes, Dispatch lets go
/// of the value on a global queue, and from then on wakes up every second for as long as the process
/// lives (`_dispatch_workq_monitor_pools`).
final class ClosedConnections: Sendable {
    private let all = Mutex<[any DatabaseReader]>([])

    /// Runs `body` with a connection, which is closed behind it.
    func use<R>(_ connection: DatabaseQueue, _ body: (DatabaseQueue) throws -> R) throws -> R {
        let result = Result { try body(connection) }
        try take(connection)
        return try result.get()
    }

    /// Closes a connection.
    func take(_ connection: some DatabaseReader) throws {
        // One that cannot be closed is kept as well.
        all.withLock { $0.append(connection) }
        try connection.close()
    }

    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - path: of the database.
    ///   - configuration: of the connection.
    ///   - isLenient: lets SQLite read a schema that it cannot make sense of, and a file that is
    ///     shorter than its header says.
    /// - Returns: the connection, for `use` or `take`.
    /// - Throws: `StoreFailure.database`.
    func open(
        _ path: String,
        _ configuration: Configuration,
        isLenient: Bool = false
    ) throws -> DatabaseQueue {
        // GRDB lets go of a connection that it cannot open before anybody could keep it.
        if let failure = Self.trial(path, configuration, isLenient) { throw failure }
        var configuration = configuration
        if isLenient {
            configuration.prepareDatabase { try $0.execute(sql: Self.leniency) }
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static let leniency = "PRAGMA writable_schema = ON"
    /// In milliseconds; another process has no business here, but for a moment.
    private static let patience: CInt = 5_000

    /// What keeps a connection from being opened: sqlite3_open_v2.
    private static func trial(
        _ path: String,
        _ configuration: Configuration,
        _ isLenient: Bool
    ) -> StoreFailure? {
        var connection: OpaquePointer?
        defer { sqlite3_close_v2(connection) }
        let access = configuration.readonly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        var code = sqlite3_open_v2(path, &connection, access | SQLITE_OPEN_NOMUTEX, nil)
        sqlite3_busy_timeout(connection, patience)
        // As GRDB does when it opens one.
        for sql in (isLenient ? [leniency] : []) + ["SELECT * FROM sqlite_master LIMIT 1"]
        where code == SQLITE_OK {
            code = sqlite3_exec(connection, sql, nil, nil, nil)
        }
        guard code != SQLITE_OK, let connection else { return nil }
        return .database(
            code: sqlite3_extended_errcode(connection),
            message: String(cString: sqlite3_errmsg(connection))
        )
    }
}
