// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import Glibc

/// The store's database file, and the set-up of its connections.
struct DatabaseFile {
    /// The suffixes of the files that SQLite keeps beside a database in WAL mode.
    static let companions = [logSuffix, "-shm"]
    /// The suffix of the write-ahead log, which holds commits that are not in the database file
    /// yet.
    static let logSuffix = "-wal"

    let path: String
    let files: Files
    /// The connections that checked for damage and recovered tasks.
    let closed = ClosedConnections()

    /// Whether SQLite takes the file for a new database, and deletes the log beside it.
    ///
    /// SQLite may itself write one byte to a new file.
    var isEmpty: Bool {
        get throws(FileFailure) { try files.status(path).map { $0.st_size <= 1 } ?? true }
    }

    /// Returns the damage that SQLite finds, or that the file is empty; nil for a sound database.
    ///
    /// It changes nothing.
    ///
    /// - Throws: `newerSchema`, and any other error that keeps the database from being read.
    func damage() throws(StoreFailure) -> StoreFailure? {
        guard try !translatingErrors({ try isEmpty }) else {
            return .database(code: ResultCode.SQLITE_NOTADB.rawValue, message: "the file is empty")
        }
        do {
            return try check()
        } catch {
            guard error.needsRecovery else { throw error }
        }
        // A crash left an unfinished change, which only a connection that may write can roll back.
        try translatingErrors {
            try closed.use(closed.open(path, Self.configuration)) { queue in
                _ = try queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
            }
        }
        return try check()
    }

    private func check() throws(StoreFailure) -> StoreFailure? {
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

    /// Opens the database; creates it, or migrates it to the newest schema, if necessary.
    func open() throws(StoreFailure) -> DatabasePool {
        try translatingErrors {
            // SQLite gives its other files the database's permissions.
            try files.makePrivateFile(path)
            for companion in Self.companions where try files.status(path + companion) != nil {
                try files.makePrivateFile(path + companion)
            }
            let pool = try DatabasePool(path: path, configuration: Self.configuration)
            try pool.writeWithoutTransaction { database in
                // After opening, because GRDB sets NORMAL then, with which a power cut can undo
                // commits.
                try database.execute(sql: "PRAGMA synchronous = FULL")
                // 16 MiB, so that a large change does not write pages to the log twice; the memory
                // is released after a large commit.
                try database.execute(sql: "PRAGMA cache_size = -16384")
                // Without a limit, the log of a commit of 100,000 tasks would keep its size.
                try database.execute(sql: "PRAGMA journal_size_limit = 4194304")
            }
            try Schema.migrator.migrate(pool)
            return pool
        }
    }

    /// Makes the file smaller if removed tasks leave three quarters of it, and 1 MiB, unused.
    ///
    /// Copying the rest holds up the start: for 0.3 seconds at most with a tenth of 27 MB in use, for
    /// half a second with half, for more than a second with three quarters.
    func shrink(_ pool: DatabasePool) throws {
        try pool.writeWithoutTransaction { database in
            let unused = try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
            let all = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            guard unused >= 256, unused >= all / 4 * 3 else { return }
            try database.execute(sql: "VACUUM")
        }
    }

    /// Opens a read-only connection that never waits for locks; the database must be open already.
    func openQuickReader() throws(StoreFailure) -> DatabaseQueue {
        try translatingErrors {
            var configuration = Self.configuration
            configuration.label = "tasks.quickReader"
            configuration.readonly = true
            configuration.busyMode = .immediateError
            let quickReader = try DatabaseQueue(path: path, configuration: configuration)
            try quickReader.inDatabase { database in
                // 64 KiB: enough for the pages that lead to one row.
                try database.execute(sql: "PRAGMA cache_size = -64")
            }
            return quickReader
        }
    }

    /// How long a lock is waited for, in milliseconds: no other process should use the database, but
    /// a backup program may for a moment.
    static let busyTimeout = 5_000

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "tasks"
        configuration.busyMode = .timeout(Double(busyTimeout) / 1000)
        // Few readers, because each one has its own cache in memory.
        configuration.maximumReaderCount = 2
        configuration.prepareDatabase { database in
            // Overwrite deleted content, because URLs and headers may hold secrets.
            try database.execute(sql: "PRAGMA secure_delete = ON")
            // What SQLite needs to undo one change of a commit, and the copy of VACUUM, may hold them
            // too: they stay in memory. Else they go to a file in /var/tmp, whose disk may be full.
            try database.execute(sql: "PRAGMA temp_store = MEMORY")
        }
        return configuration
    }
}
