// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
import iDownState

/// Copies the readable rows of a damaged database into a new one, and moves the damaged one aside.
///
/// Nothing is deleted. The damaged database is moved only after the new one is complete and
/// durable: after a crash before that, the recovery starts again; after a later one, the next start
/// finishes it.
struct Salvage {
    let path: String
    let ids: IDReservation
    let files: Files
    let closed: ClosedConnections

    func run(reason: StoreFailure, now: WallTime) throws -> OpeningReport.Recovery {
        let broken = try BrokenFile.path(for: path, at: now, in: files)
        var recovery = OpeningReport.Recovery(brokenPath: broken, reason: reason.description)
        try removeUnfinished()
        do {
            try makeNew(&recovery)
            try moveAside(to: broken)
            try activateNew()
        } catch {
            // Once the damaged database is moved, the next start needs the new one. Before that, the
            // next start begins anew, and on a full disk it needs the room.
            if (try? files.status(path)) != nil { try? removeUnfinished() }
            throw error
        }
        return recovery
    }

    /// Makes the new database, which is durable on return.
    private func makeNew(_ recovery: inout OpeningReport.Recovery) throws {
        let target = try DatabaseFile(path: new, files: files).open()
        if let source = try source(besides: target) {
            try closed.use(source) { source in
                try source.inDatabase { source in
                    try target.write { try carry(from: source, to: $0, &recovery) }
                }
            }
        }
        try remove(copy)
        // The log must be written into the database file, because only that file is renamed.
        _ = try target.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try closed.close(target)
        try files.syncFolder(Files.parent(of: path))
    }

    /// The path of the new database until it is renamed.
    var new: String { path + ".new" }

    /// The path of the copy whose header is mended.
    private var copy: String { path + ".graft" }

    /// Removes what a recovery that failed or was interrupted has left.
    func removeUnfinished() throws(FileFailure) {
        try remove(copy)
        try remove(new)
    }

    private func remove(_ database: String) throws(FileFailure) {
        for suffix in [""] + DatabaseFile.companions { try files.remove(database + suffix) }
    }

    /// Opens the damaged database, or a copy with the header of the new one; nil if it is empty, or
    /// its schema too damaged to find the tables.
    private func source(besides target: DatabasePool) throws -> DatabaseQueue? {
        guard try !DatabaseFile(path: path, files: files).isEmpty else { return nil }
        if let source = try readable(path) { return source }
        return try makeCopy(withHeaderOf: target) ? readable(copy) : nil
    }

    /// Opens a database; nil if the tables cannot be found in it.
    private func readable(_ path: String) throws -> DatabaseQueue? {
        var configuration = Configuration()
        configuration.readonly = true
        guard let source = try? closed.open(path, configuration, isLenient: true)
        else { return nil }
        let sql = "SELECT 1 FROM task, pieceHashes, token, nextID, tally LIMIT 0"
        if (try? source.inDatabase { try $0.execute(sql: sql) }) != nil { return source }
        try closed.close(source)
        return nil
    }

    /// Copies the damaged database and its log, and replaces the header of the copy.
    ///
    /// Every list of idown has the same page size and encoding, so that the header of any other one
    /// leads to its pages: sqlite.org/fileformat2.html, section 1.3.
    ///
    /// - Returns: false if that cannot help, since what follows the header is no page of a table.
    private func makeCopy(withHeaderOf target: DatabasePool) throws -> Bool {
        var first: [UInt8] = []
        try files.withDescriptor(path, O_RDONLY) { descriptor throws(FileFailure) in
            first = try files.read(descriptor, path, atMost: 101)
        }
        guard first.count == 101, [0x05, 0x0d].contains(first[100]) else { return false }
        _ = try target.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        var header = Array(try files.read(new, limit: 1 << 20)?.prefix(100) ?? [])
        guard header.count == 100 else { return false }
        // Of a database without a recorded size, SQLite uses the size of the file.
        header.replaceSubrange(28..<32, with: [0, 0, 0, 0])
        for suffix in ["", DatabaseFile.logSuffix] where try files.status(path + suffix) != nil {
            try files.copy(path + suffix, to: copy + suffix)
        }
        try files.withDescriptor(copy, O_WRONLY) { descriptor throws(FileFailure) in
            try files.write(header[...], to: descriptor, copy)
        }
        return true
    }

    private func carry(
        from source: Database,
        to target: Database,
        _ recovery: inout OpeningReport.Recovery
    ) throws {
        let old = Snapshot(database: source, ids: ids)
        let transaction = Transaction(database: target, ids: ids)
        let bound = max(ids.bound, (try? old.nextID()) ?? 0)
        let hasFileSystemIDs = Self.hasFileSystemIDs(source)
        try transaction.setNextID(max(bound, 1))
        let tasks = ReadableRows(
            Self.select(from: source),
            by: "id",
            below: bound > 0 ? bound : nil,
            in: source
        )
        for row in tasks {
            guard var record = try? TaskRow(row: row).record() else { continue }
            let pieces = try? old.pieceHashes(of: record.id)
            record.request.hasPieceHashes = pieces != nil
            if !hasFileSystemIDs { record.file?.fileSystem = 0 }
            try transaction.insert(record)
            if let pieces { try transaction.keep(pieces, of: record.id) }
            // If no bound is known, the next id must be above all ids that are found.
            if record.id.rawValue >= bound { try transaction.setNextID(record.id.rawValue &+ 1) }
            recovery.recoveredTasks += 1
        }
        try carryTokens(from: source, to: target)
        try carryHandOvers(from: source, to: target)
    }

    /// Whether file systems are recorded by their IDs; older lists recorded device numbers instead.
    private static func hasFileSystemIDs(_ source: Database) -> Bool {
        let versions = try? String.fetchAll(source, sql: "SELECT identifier FROM grdb_migrations")
        return versions?.contains("4") ?? false
    }

    private static func select(from source: Database) -> String {
        // If the schema cannot be read, the oldest version is assumed.
        TaskColumn.select { column in
            (try? source.makeStatement(sql: "SELECT \(column.name) FROM task")) != nil
        }
    }

    /// Copies the readable tokens.
    private func carryTokens(from source: Database, to target: Database) throws {
        let last = try? Int64.fetchOne(source, sql: "SELECT coalesce(max(number), 0) FROM token")
        let tokens = ReadableRows(
            "SELECT number, token, ids FROM token",
            by: "number",
            below: last.map { $0 &+ 1 },
            in: source
        )
        // Damage can make a row appear twice.
        let insert = try target.makeStatement(
            sql: "INSERT OR IGNORE INTO token (number, token, ids) VALUES (?, ?, ?)"
        )
        for row in tokens {
            // Damage can change a value's type, which the new table would refuse.
            let values = Array(row.databaseValues)
            guard values.count == 3, case .int64 = values[0].storage,
                String.fromDatabaseValue(values[1]) != nil, case .blob(let ids) = values[2].storage,
                TaskIDList.ids(Array(ids)) != nil
            else { continue }
            try insert.execute(arguments: StatementArguments(values))
        }
    }

    /// Copies the readable hand-overs, so that withdrawn ones stay withdrawn.
    private func carryHandOvers(from source: Database, to target: Database) throws {
        // Lists before version 10 have none.
        let last = try? Int64.fetchOne(source, sql: "SELECT max(rowid) FROM handOver")
        guard let last else { return }
        let handOvers = ReadableRows(
            "SELECT rowid, token, state, task, confirmAt, record FROM handOver",
            by: "rowid",
            below: last &+ 1,
            in: source
        )
        let insert = try target.makeStatement(
            sql: """
                INSERT OR IGNORE INTO handOver (token, state, task, confirmAt, record)
                VALUES (?, ?, ?, ?, ?)
                """
        )
        for row in handOvers {
            let values = Array(row.databaseValues.dropFirst())
            guard values.count == 5, String.fromDatabaseValue(values[0]) != nil,
                String.fromDatabaseValue(values[1]) != nil,
                values[2].isNull || Int64.fromDatabaseValue(values[2]) != nil,
                values[3].isNull || Int64.fromDatabaseValue(values[3]) != nil,
                values[4].isNull || String.fromDatabaseValue(values[4]) != nil
            else { continue }
            // A value whose type the new table refuses is lost with its row.
            try? insert.execute(arguments: StatementArguments(values))
        }
    }

    /// Moves the damaged database and its companion files.
    ///
    /// The database goes first: without its log it would be read as an older list, while a log
    /// without a database is ignored.
    func moveAside(to broken: String) throws(FileFailure) {
        for suffix in [""] + DatabaseFile.companions where try files.status(path + suffix) != nil {
            try files.call("chmod", path + suffix) { chmod(path + suffix, 0o600) }
            try files.rename(path + suffix, to: broken + suffix)
            // Synced after each rename, so that the order holds on the disk too.
            try files.syncFolder(Files.parent(of: path))
        }
    }

    /// Renames the new database to the database's path.
    ///
    /// Old companion files are removed before, because SQLite would take them for the new
    /// database's.
    func activateNew() throws(FileFailure) {
        for suffix in DatabaseFile.companions { try files.remove(new + suffix) }
        try files.rename(new, to: path)
        try files.syncFolder(Files.parent(of: path))
    }
}
