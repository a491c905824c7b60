// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
import iDownState

/// Saves what can be read of a damaged database into a new one, and moves the damaged one aside.
///
/// Nothing is deleted. The new database is complete and durable before the damaged one is moved,
/// so that a crash before means no more than doing it again.
struct Salvage {
    let path: String
    let ids: IDReservation
    let files: Files

    func run(reason: StoreFailure, now: WallTime) throws -> OpeningReport.Recovery {
        var recovery = OpeningReport.Recovery(
            brokenPath: try BrokenFile.path(for: path, at: now, in: files),
            reason: reason.description,
            carriedTasks: 0,
            carriedTokens: 0,
            lostTasks: nil
        )
        let new = path + ".new"
        for suffix in [""] + DatabaseFile.companions { try files.remove(new + suffix) }
        let target = try DatabaseFile(path: new, files: files).open()
        let graft = SchemaGraft(path: path, files: files)
        if let source = try source(graft, like: target) {
            try source.inDatabase { source in
                try target.write { try carry(from: source, to: $0, &recovery) }
            }
            try source.close()
        }
        try graft.remove()
        // The whole log has to be in the database file, which alone gets the name.
        _ = try target.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try target.close()
        try moveAside(to: recovery.brokenPath)
        try files.rename(new, to: path)
        try files.syncFolder(Files.parent(of: path))
        return recovery
    }

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
        configuration.prepareDatabase { database in
            // Lets SQLite read a file that is shorter than its header says.
            try database.execute(sql: "PRAGMA writable_schema = ON")
        }
        if let source = try? DatabaseQueue(path: path, configuration: configuration) {
            let sql = "SELECT 1 FROM task, pieceHashes, token, nextID, tally LIMIT 0"
            if (try? source.inDatabase { try $0.execute(sql: sql) }) != nil { return source }
            try source.close()
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
        try transaction.setNextID(max(bound, 1))
        // A schema that cannot be read is as old as it may be.
        let isOld = (try? Row.fetchOne(source, sql: "SELECT loginKey FROM task LIMIT 0")) == nil
        let tasks = ReadableRows(
            isOld ? TaskColumn.selectOfVersion1 : TaskColumn.select,
            by: "id",
            below: bound > 0 ? bound : nil,
            in: source
        )
        for row in tasks {
            guard var record = try? TaskRow(row: row).record() else { continue }
            let pieces = try? old.pieceHashes(of: record.id)
            record.request.hasPieceHashes = pieces != nil
            try transaction.insert(record)
            if let pieces { try transaction.keep(pieces, of: record.id) }
            recovery.carriedTasks += 1
            // Without a bound the ids themselves are all that tells which are taken.
            if record.id.rawValue >= bound { try transaction.setNextID(record.id.rawValue &+ 1) }
        }
        // Counted alike on both sides, so without the tasks that are being removed.
        if let expected = try? old.counts().total {
            recovery.lostTasks = max(0, expected - (try transaction.counts().total))
        }
        recovery.carriedTokens = try carryTokens(from: source, to: target)
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
            try insert.execute(arguments: StatementArguments(row.databaseValues))
            carried += target.changesCount
        }
        return carried
    }

    /// The log goes first: a new database beside an old log would be read as one with it.
    private func moveAside(to broken: String) throws(FileFailure) {
        for suffix in DatabaseFile.companions + [""] where try files.status(path + suffix) != nil {
            try files.call("chmod", path + suffix) { chmod(path + suffix, 0o600) }
            try files.rename(path + suffix, to: broken + suffix)
        }
    }
}
