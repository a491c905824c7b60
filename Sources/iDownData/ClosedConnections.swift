// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Synchronization

/// Database connections that are used briefly, then closed, but kept in memory as long as the
/// store.
///
/// GRDB attaches a value to each connection's dispatch queue. When such a queue is freed, Dispatch
/// frees the value on a global queue, and from then on wakes up every second for as long as the
/// process lives (`_dispatch_workq_monitor_pools`).
final class ClosedConnections: Sendable {
    private let all = Mutex<[any DatabaseReader]>([])

    /// Runs `body` with a connection, and closes the connection afterwards.
    func use<R>(_ connection: DatabaseQueue, _ body: (DatabaseQueue) throws -> R) throws -> R {
        let result = Result { try body(connection) }
        try close(connection)
        return try result.get()
    }

    /// Closes a connection and keeps the object.
    func close(_ connection: some DatabaseReader) throws {
        // Kept first, so that it is kept even if closing fails.
        all.withLock { $0.append(connection) }
        try connection.close()
    }

    /// Opens a connection, which is to be closed by ``use(_:_:)`` or ``close(_:)``.
    ///
    /// - Parameters:
    ///   - path: the database's path.
    ///   - configuration: the connection's configuration.
    ///   - isLenient: lets SQLite open a database whose schema it cannot parse, or that is shorter
    ///     than its header says.
    /// - Returns: the connection.
    /// - Throws: `StoreFailure.database`.
    func open(
        _ path: String,
        _ configuration: Configuration,
        isLenient: Bool = false
    ) throws -> DatabaseQueue {
        // GRDB frees a connection that it fails to open, before it could be kept here.
        if let failure = Self.openingFailure(path, configuration, isLenient) { throw failure }
        var configuration = configuration
        if isLenient { configuration.prepareDatabase { try $0.execute(sql: Self.lenientSchema) } }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static let lenientSchema = "PRAGMA writable_schema = ON"
    /// How long to wait for another process's lock, in milliseconds; no other process should use
    /// the database for longer than a moment.
    private static let busyTimeout: CInt = 5_000

    /// Returns the error with which opening a connection fails; nil where it succeeds:
    /// sqlite3_open_v2.
    private static func openingFailure(
        _ path: String,
        _ configuration: Configuration,
        _ isLenient: Bool
    ) -> StoreFailure? {
        var connection: OpaquePointer?
        defer { sqlite3_close_v2(connection) }
        let access = configuration.readonly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        var code = sqlite3_open_v2(path, &connection, access | SQLITE_OPEN_NOMUTEX, nil)
        sqlite3_busy_timeout(connection, busyTimeout)
        // GRDB runs the same statement when it opens a connection.
        for sql in (isLenient ? [lenientSchema] : []) + ["SELECT * FROM sqlite_master LIMIT 1"]
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
