// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
import iDownState

// Finishes a recovery that a crash or a failing disk interrupted.
extension Salvage {
    /// Finishes an interrupted recovery that had already moved the damaged database.
    ///
    /// - Parameter now: the time, for the new name of files that still have to be moved.
    /// - Returns: the path of the damaged database; nil if there is nothing to finish.
    /// - Throws: `FileFailure`; the next start continues from there.
    func finish(now: WallTime) throws(FileFailure) -> String? {
        guard try files.status(path) == nil else {
            // Nobody needs it: where this database is damaged too, its recovery begins anew.
            try? removeUnfinished()
            return nil
        }
        guard try isComplete() else { return nil }
        var last = try BrokenFile.last(for: path, in: files)
        for suffix in DatabaseFile.companions where try files.status(path + suffix) != nil {
            // A moved database that has this file already is not the one the file belongs to.
            if let known = last, try files.status(known + suffix) != nil { last = nil }
        }
        let broken: String
        if let last {
            broken = last
        } else {
            broken = try BrokenFile.path(for: path, at: now, in: files)
        }
        try moveAside(to: broken)
        try activateNew()
        return broken
    }

    /// Returns the report of a recovery that an earlier start had begun.
    ///
    /// - Parameters:
    ///   - broken: the path of the damaged database.
    ///   - pool: the new database.
    /// - Returns: what was recovered.
    /// - Throws: `StoreFailure.database`.
    func recovery(from broken: String, in pool: DatabasePool) throws -> OpeningReport.Recovery {
        try pool.write { database in
            OpeningReport.Recovery(
                brokenPath: broken,
                reason: "an earlier start had not finished the recovery",
                recoveredTasks: try Transaction(database: database, ids: ids).counts().total
            )
        }
    }

    /// Whether the new database is complete: emptying its log is the recovery's last step.
    private func isComplete() throws(FileFailure) -> Bool {
        guard let database = try files.status(new), database.st_size > 0 else { return false }
        guard let log = try files.status(new + DatabaseFile.logSuffix) else { return true }
        return log.st_size == 0
    }
}
