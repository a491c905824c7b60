// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
import iDownState

/// Saves what can be read of a damaged database into a new one, and moves the damaged one aside.
///
/// Nothing is deleted. The new database is complete and durable before the damaged one is moved,
/// so that a crash before means no more than doing it again, and one after it no more than bringing
/// it to its end.
struct Salvage {
    let path: String
    let ids: IDReservation
    let files: Files
    let closed: ClosedConnections

    func run(reason: StoreFailure, now: WallTime) throws -> OpeningReport.Recovery {
        var recovery = OpeningReport.Recovery(
            brokenPath: try BrokenFile.path(for: path, at: now, in: files),
            reason: reason.description,
            carriedTasks: 0,
            carriedTokens: 0,
            lostTasks: nil
        )
        for suffix in [""] + DatabaseFile.companions { try files.remove(new + suffix) }
        let target = try DatabaseFile(path: new, files: files).open()
        let graft = SchemaGraft(path: path, files: files, closed: closed)
        if let source = try source(graft, like: target) {
            try closed.use(source) { source in
                try source.inDatabase { source in
                    try target.write { try carry(from: source, to: $0, &recovery) }
                }
                guard recovery.lostTasks != 0 else { return }
                try carryStrays(graft, source, to: target, &recovery)
            }
        }
        try graft.remove()
        // The whole log has to be in the database file, which alone gets the name.
        _ = try target.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try closed.take(target)
        try files.syncFolder(Files.parent(of: path))
        try moveAside(to: recovery.brokenPath)
        try giveName()
        return recovery
    }

    /// Where the new database stands until it gets the name.
    var new: String { path + ".new" }

    /// The damaged database, or a copy of it where its own schema does not tell where the tables
    /// begin; nil where nothing can be read.
    ///
    /// - Throws: what kept the copy from being made, such as a full disk, but no damage.
    private func source(
        _ graft: SchemaGraft,
        like target: DatabasePool
    ) throws -> DatabaseQueue? {
        var configuration = Configuration()
        configuration.readonly = true
        if let source = try? closed.open(path, configuration, isLenient: true) {
            let sql = "SELECT 1 FROM task, pieceHashes, token, nextID, tally LIMIT 0"
            if (try? source.inDatabase { try $0.execute(sql: sql) }) != nil { return source }
            try closed.take(source)
        }
        do {
            return try target.writeWithoutTransaction { try graft.open(like: $0) }
        } catch  where StoreFailure(error).isCorruption {
            return nil
        }
    }

    private func carry(
        from source: Database,
        to target: Database,
        _ recovery: inout OpeningReport.Recovery
    ) throws {
        let old = Snapshot(database: source, ids: ids)
        let transaction = Transaction(database: target, ids: ids)
        let bound = max(ids.bound, (try? old.nextID()) ?? 0)
        let knowsDrives = Self.knowsDrives(source)
        try transaction.setNextID(max(bound, 1))
        let tasks = ReadableRows(
            Self.select(from: source),
            by: "id",
            below: bound > 0 ? bound : nil,
            in: source
        )
        for row in tasks {
            guard let record = try? TaskRow(row: row).record() else { continue }
            try carry(record, from: old, to: transaction, belowBound: bound, knowsDrives)
            recovery.carriedTasks += 1
        }
        // Counted alike on both sides, so without the tasks that are being removed.
        if let expected = try? old.counts().total {
            recovery.lostTasks = max(0, expected - (try transaction.counts().total))
        }
        recovery.carriedTokens = try carryTokens(from: source, to: target)
    }

    /// Looks for the tasks that the table itself did not lead to.
    private func carryStrays(
        _ graft: SchemaGraft,
        _ source: DatabaseQueue,
        to target: DatabasePool,
        _ recovery: inout OpeningReport.Recovery
    ) throws {
        let copy: DatabaseQueue
        do {
            copy = source.configuration.readonly ? try graft.openAsItIs() : source
        } catch  where StoreFailure(error).isCorruption {
            return
        }
        var found = 0
        do {
            try copy.inDatabase { copy in
                let old = Snapshot(database: copy, ids: ids)
                let knowsDrives = Self.knowsDrives(copy)
                try target.write { database in
                    let transaction = Transaction(database: database, ids: ids)
                    let bound = max(ids.bound, (try? old.nextID()) ?? 0)
                    try StrayTasks(copy: copy, select: Self.select(from: copy)).forEach { stray in
                        guard bound == 0 || stray.id.rawValue < bound,
                            try transaction.task(stray.id) == nil
                        else { return }
                        try carry(stray, from: old, to: transaction, belowBound: bound, knowsDrives)
                        found += 1
                    }
                }
            }
        } catch  where StoreFailure(error).isCorruption {
            // The copy's own schema cannot be changed: what was found so far is undone with it.
            found = 0
        }
        if copy !== source { try closed.take(copy) }
        recovery.carriedTasks += found
        recovery.lostTasks = recovery.lostTasks.map { max(0, $0 - found) }
    }

    /// Whether the file systems of files stand in the list: in older ones it is the device's number.
    private static func knowsDrives(_ source: Database) -> Bool {
        let versions = try? String.fetchAll(source, sql: "SELECT identifier FROM grdb_migrations")
        return versions?.contains("4") ?? false
    }

    private static func select(from source: Database) -> String {
        // A schema that cannot be read counts as the oldest one.
        TaskColumn.select { column in
            (try? source.makeStatement(sql: "SELECT \(column.name) FROM task")) != nil
        }
    }

    private func carry(
        _ record: TaskRecord,
        from old: Snapshot,
        to transaction: Transaction,
        belowBound bound: Int64,
        _ knowsDrives: Bool
    ) throws {
        let pieces = try? old.pieceHashes(of: record.id)
        var record = record
        record.request.hasPieceHashes = pieces != nil
        if !knowsDrives { record.file?.fileSystem = 0 }
        try transaction.insert(record)
        if let pieces { try transaction.keep(pieces, of: record.id) }
        // Without a bound the ids themselves are all that tells which are taken.
        if record.id.rawValue >= bound { try transaction.setNextID(record.id.rawValue &+ 1) }
    }

    /// How many tokens could be carried over.
    private func carryTokens(from source: Database, to target: Database) throws -> Int {
        let last = try? Int64.fetchOne(source, sql: "SELECT coalesce(max(number), 0) FROM token")
        let tokens = ReadableRows(
            "SELECT number, token, ids FROM token",
            by: "number",
            below: last.map { $0 &+ 1 },
            in: source
        )
        // Damage can show one row twice.
        let insert = try target.makeStatement(
            sql: "INSERT OR IGNORE INTO token (number, token, ids) VALUES (?, ?, ?)"
        )
        var carried = 0
        for row in tokens {
            // Damage can give a value another type, which the table would refuse.
            let values = Array(row.databaseValues)
            guard values.count == 3, case .int64 = values[0].storage,
                String.fromDatabaseValue(values[1]) != nil, case .blob(let ids) = values[2].storage,
                TaskIDList.ids(Array(ids)) != nil
            else { continue }
            try insert.execute(arguments: StatementArguments(values))
            carried += target.changesCount
        }
        return carried
    }

    /// The database goes first: without its log it would be read as an older list, while a log
    /// alone is read by nobody.
    func moveAside(to broken: String) throws(FileFailure) {
        for suffix in [""] + DatabaseFile.companions where try files.status(path + suffix) != nil {
            try files.call("chmod", path + suffix) { chmod(path + suffix, 0o600) }
            try files.rename(path + suffix, to: broken + suffix)
            // One after the other, on the disk as well.
            try files.syncFolder(Files.parent(of: path))
        }
    }

    /// The new database gets the name; no log of the old one is left, which would be taken for its.
    func giveName() throws(FileFailure) {
        for suffix in DatabaseFile.companions { try files.remove(new + suffix) }
        try files.rename(new, to: path)
        try files.syncFolder(Files.parent(of: path))
    }
}
