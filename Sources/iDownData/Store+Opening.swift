// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
package import iDownState

extension Store {
    /// Opens the store in a folder, which is made if it is missing.
    ///
    /// This call blocks. With `blocks` all later calls block too, for a simulation in which nothing
    /// may run concurrently. A damaged database is moved aside as `tasks.sqlite.broken-<date>`, and
    /// all rows that can still be read are copied into a new one. Any other error is thrown, also
    /// for the database of a newer idown, and leaves the database unchanged.
    package static func open(
        folder: String,
        now: WallTime,
        commitFaults: (@Sendable () -> Bool)? = nil,
        fileFaults: (@Sendable () -> Int32?)? = nil,
        blocks: Bool = false
    ) throws(StoreFailure) -> (store: Store, report: OpeningReport) {
        let files = Files(faults: fileFaults)
        let reserve = SpaceReserve(folder: folder)
        func open() throws(StoreFailure) -> (store: Store, report: OpeningReport) {
            try translatingErrors {
                let path = folder + "/tasks.sqlite"
                try files.makePrivateFolder(folder)
                try reserve.giveForOpening()
                let ids = try IDReservation(folder: folder, files: files)
                let file = DatabaseFile(path: path, files: files)
                let salvage = Salvage(path: path, ids: ids, files: files, closed: file.closed)
                let broken = try salvage.finish(now: now)
                // A crash right after the file was made leaves it empty, before the first id is given.
                let isNew = try files.status(path) == nil || file.isEmpty && ids.bound == 0
                var report = OpeningReport(isNew: isNew, recovery: nil)
                if !isNew, let damage = try file.damage() {
                    report.recovery = try salvage.run(reason: damage, now: now)
                }
                let pool = try file.open()
                if let broken, report.recovery == nil {
                    report.recovery = try salvage.recovery(from: broken, in: pool)
                }
                try alignIDs(ids, in: pool)
                // On a full disk the file keeps its size.
                try? file.shrink(pool)
                // A crash leaves pages in the log that may hold secrets which no record has any more.
                _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
                let quickReader = try file.openQuickReader()
                let store = Store(
                    pool: pool,
                    quickReader: quickReader,
                    closed: file.closed,
                    ids: ids,
                    reserve: reserve,
                    faults: commitFaults,
                    blocks: blocks
                )
                return (store, report)
            }
        }
        let opened: (store: Store, report: OpeningReport)
        do {
            opened = try open()
        } catch {
            guard error.isFullDisk, reserve.release() else { throw error }
            opened = try open()
        }
        reserve.keep()
        return opened
    }

    /// Returns why the store in a folder cannot be opened; nil if it can be, or is not made yet.
    ///
    /// It changes nothing but what a crash has left unfinished. A damaged database is no obstacle.
    package static func obstacle(folder: String) -> StoreFailure? {
        do throws(StoreFailure) {
            let file = DatabaseFile(path: folder + "/tasks.sqlite", files: Files(faults: nil))
            _ = try file.damage()
            return nil
        } catch {
            return error
        }
    }

    /// Sets the counters in the database and the file `next-id` to the higher of the two.
    private static func alignIDs(_ ids: IDReservation, in pool: DatabasePool) throws {
        try pool.write { database in
            let transaction = Transaction(database: database, ids: ids)
            let stored = try transaction.nextID()
            if ids.bound > stored { try transaction.setNextID(ids.bound) }
            try transaction.alignSerial()
            try ids.setBound(to: max(ids.bound, stored))
            try transaction.keepNextID()
        }
    }
}
