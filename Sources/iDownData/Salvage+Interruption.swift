// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
import iDownState

// What is left to do where a crash, or a disk that fails, has cut a salvage short.
extension Salvage {
    /// Brings a salvage to its end that has moved the damaged database already.
    ///
    /// - Parameter now: for the name of what still has to be moved.
    /// - Returns: where the damaged database stands; nil where there is nothing to do.
    /// - Throws: `FileFailure`; the next start goes on from there.
    func finish(now: WallTime) throws(FileFailure) -> String? {
        guard try files.status(path) == nil, try isComplete() else { return nil }
        var last = try BrokenFile.last(for: path, in: files)
        for suffix in DatabaseFile.companions where try files.status(path + suffix) != nil {
            // What has its own companion has lost none.
            if let known = last, try files.status(known + suffix) != nil { last = nil }
        }
        let broken: String
        if let last {
            broken = last
        } else {
            broken = try BrokenFile.path(for: path, at: now, in: files)
        }
        try moveAside(to: broken)
        try giveName()
        return broken
    }

    /// What is told of a salvage that an earlier start had begun.
    ///
    /// - Parameters:
    ///   - broken: where the damaged database stands.
    ///   - pool: of the new database.
    /// - Returns: what was saved.
    /// - Throws: `StoreFailure.database`.
    func recovery(from broken: String, in pool: DatabasePool) throws -> OpeningReport.Recovery {
        try pool.write { database in
            OpeningReport.Recovery(
                brokenPath: broken,
                reason: "what was saved of it had not got its name yet",
                carriedTasks: try Transaction(database: database, ids: ids).counts().total,
                carriedTokens: try Int.fetchOne(database, sql: "SELECT count(*) FROM token") ?? 0,
                lostTasks: nil
            )
        }
    }

    /// Whether the new database has all that could be saved: its log is emptied last of all.
    private func isComplete() throws(FileFailure) -> Bool {
        guard let database = try files.status(new), database.st_size > 0 else { return false }
        guard let log = try files.status(new + DatabaseFile.log) else { return true }
        return log.st_size == 0
    }
}
