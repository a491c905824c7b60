// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB

/// A database file of the store, and how its connections are set up.
struct DatabaseFile {
    /// The companions that SQLite keeps beside a database in WAL mode.
    static let companions = [log, "-shm"]
    /// What is committed and not in the database yet.
    static let log = "-wal"

    let path: String
    let files: Files
    /// Those that looked for damage, and what saved the content from it.
    let closed = ClosedConnections()

    /// Looks for damage without changing anything: what SQLite finds wrong with the content.
    ///
    /// - Throws: `newerSchema`, and whatever else keeps the database from being read.
    func damage() throws(StoreFailure) -> StoreFailure? {
        do {
            return try look()
        } catch {
            guard error.needsRecovery else { throw error }
        }
        // A crash left a change half made, which only a writer may roll back.
        try translatingErrors {
            try closed.use(closed.open(path, Self.configuration)) { queue in
                _ = try queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
            }
        }
        return try look()
    }

    private func look() throws(StoreFailure) -> StoreFailure? {
        do {
            var configuration = Self.configuration
            configuration.readonly = true
            let verdict = try closed.use(closed.open(path, configuration)) { queue in
                try queue.read { database in
                    guard try !Schema.migrator.hasBeenSuperseded(database) else {
                        throw StoreFailure.newerSchema
                    }
                    return try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? ""
                }
            }
            guard verdict != "ok" else { return nil }
            return .database(code: ResultCode.SQLITE_CORRUPT.rawValue, message: verdict)
        } catch {
            let failure = StoreFailure(error)
            guard failure.isCorruption else { throw failure }
            return failure
        }
    }

    /// Opens the database, which is made or brought to the newest schema if need be.
    func open() throws(StoreFailure) -> DatabasePool {
        try translatingErrors {
            // SQLite gives its companions the rights of the database.
            try files.makePrivateFile(path)
            for companion in Self.companions where try files.status(path + companion) != nil {
                try files.makePrivateFile(path + companion)
            }
            let pool = try DatabasePool(path: path, configuration: Self.configuration)
            try pool.writeWithoutTransaction { database in
                // Only now: opening the pool itself has set NORMAL, which a power cut undoes.
                try database.execute(sql: "PRAGMA synchronous = FULL")
                // 16 MiB, so that a large change is not written to the log twice over; what it
                // has filled is given back after it.
                try database.execute(sql: "PRAGMA cache_size = -16384")
                // A commit of 100,000 tasks must not leave a log of its size behind.
                try database.execute(sql: "PRAGMA journal_size_limit = 4194304")
            }
            try Schema.migrator.migrate(pool)
            return pool
        }
    }

    /// Opens a connection that reads only and never waits; the database is open already.
    func openForLooks() throws(StoreFailure) -> DatabaseQueue {
        try translatingErrors {
            var configuration = Self.configuration
            configuration.label = "tasks.looks"
            configuration.readonly = true
            configuration.busyMode = .immediateError
            let looks = try DatabaseQueue(path: path, configuration: configuration)
            try looks.inDatabase { database in
                // 64 KiB: the way down to one row, and no more.
                try database.execute(sql: "PRAGMA cache_size = -64")
            }
            return looks
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "tasks"
        // Another process has no business here; a backup program may have, for a moment.
        configuration.busyMode = .timeout(5)
        // Each reader keeps a cache of its own in memory.
        configuration.maximumReaderCount = 2
        configuration.prepareDatabase { database in
            // URLs and headers hold secrets: what is deleted is overwritten.
            try database.execute(sql: "PRAGMA secure_delete = ON")
        }
        return configuration
    }
}
