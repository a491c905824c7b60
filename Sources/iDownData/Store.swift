// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization

/// The tasks on disk: `tasks.sqlite` in the state folder.
///
/// What it says is true; whoever holds a task in memory holds a copy.
///
/// One writer commits in the order of the calls; readers see the last commit. Whoever opens it
/// holds the `StateLock` of the folder. Nothing here blocks the caller's thread but `open` and
/// `close`.
package final class Store: Sendable {
    let pool: DatabasePool
    /// A connection of its own for `look`: the pool's readers may be busy with the whole list.
    let looks: DatabaseQueue
    let ids: IDReservation
    let commits: CommitQueue
    /// Of its opening.
    private let closed: ClosedConnections
    /// What was looked at last.
    let looked = Mutex(Looked())
    /// Whether the caller's own thread does everything, and waits.
    private let blocks: Bool

    init(
        pool: DatabasePool,
        looks: DatabaseQueue,
        closed: ClosedConnections,
        ids: IDReservation,
        faults: CommitFaults?,
        blocks: Bool
    ) {
        self.pool = pool
        self.looks = looks
        self.closed = closed
        self.ids = ids
        self.blocks = blocks
        self.commits = CommitQueue(pool: pool, ids: ids, faults: faults, blocks: blocks)
    }

    /// Runs all bodies in one transaction, in order, each seeing what those before it did.
    ///
    /// A body that throws loses only its own changes, the rest commits. Durable on return. If
    /// the commit itself fails, nothing has changed and every result is that `StoreFailure`.
    /// Calls that arrive together share a commit; a cancelled task's changes are made all the
    /// same.
    package func commit<T: Sendable>(
        _ changes: [@Sendable (Transaction) throws -> T]
    ) async -> [Result<T, any Error>] {
        await withCheckedContinuation { continuation in
            commits.submit(
                CommitQueue.Entry(
                    run: { transaction in
                        let results = try changes.map { try transaction.attempt($0) }
                        return { continuation.resume(returning: results) }
                    },
                    fail: { failure in
                        continuation.resume(returning: changes.map { _ in .failure(failure) })
                    }
                )
            )
        }
    }

    /// Runs one body in a transaction; what it throws undoes its changes.
    package func commit<T: Sendable>(
        _ change: @Sendable @escaping (Transaction) throws -> T
    ) async throws -> T {
        let results = await commit([change])
        guard let result = results.first else { throw StoreFailure.closed }
        return try result.get()
    }

    /// Runs a body on the last commit; others may commit meanwhile, it does not see them.
    package func read<T: Sendable>(
        _ body: @Sendable @escaping (Snapshot) throws(StoreFailure) -> T
    ) async throws(StoreFailure) -> T {
        if blocks { return try readAtOnce(body) }
        let result = await withCheckedContinuation { continuation in
            pool.asyncRead { [ids] opened in
                continuation.resume(
                    returning: Result { () throws(StoreFailure) in
                        let database = try translatingErrors { try opened.get() }
                        return try body(Snapshot(database: database, ids: ids))
                    }
                )
            }
        }
        return try result.get()
    }

    private func readAtOnce<T: Sendable>(
        _ body: (Snapshot) throws(StoreFailure) -> T
    ) throws(StoreFailure) -> T {
        // By the writer's connection: it costs none of its own.
        try pool.writeWithoutTransaction { database in
            Result { () throws(StoreFailure) in try body(Snapshot(database: database, ids: ids)) }
        }.get()
    }

    /// Ends the store as a crash would: what is committed lasts, and nothing else is done.
    ///
    /// Blocks.
    package func crash() throws(StoreFailure) {
        try translatingErrors {
            try looks.close()
            try pool.close()
        }
    }

    /// Ends the store once the commits under way are done, and gives unused ids back.
    ///
    /// Blocks. Later calls fail with `StoreFailure.closed`.
    package func close() throws(StoreFailure) {
        try translatingErrors {
            let next = try pool.writeWithoutTransaction { database in
                try Transaction(database: database, ids: ids).nextID()
            }
            // The writer's connection is the last to go: it empties the log into the database.
            try looks.close()
            // From here on nobody makes an id any more.
            try pool.close()
            try ids.settle(on: next)
        }
    }
}

extension Transaction {
    /// Runs a body whose failure undoes its own changes alone.
    ///
    /// - Throws: what ended the whole transaction.
    func attempt<T>(_ body: (Transaction) throws -> T) throws -> Result<T, any Error> {
        try mark("SAVEPOINT change")
        do {
            let value = try body(self)
            try mark("RELEASE change")
            return .success(value)
        } catch {
            // A full disk or a damaged page may make SQLite undo everything on its own.
            guard database.isInsideTransaction else { throw error }
            try mark("ROLLBACK TO change")
            try mark("RELEASE change")
            return .failure(error is DatabaseError ? StoreFailure(error) : error)
        }
    }

    /// GRDB's own savepoints are parsed anew for every change.
    private func mark(_ sql: String) throws {
        try database.cachedStatement(sql: sql).execute()
    }
}

extension Store {
    /// The version of SQLite that runs; empty where it does not say.
    package static var libraryVersion: String {
        let version = try? DatabaseQueue().read { database in
            try String.fetchOne(database, sql: "SELECT sqlite_version()")
        }
        return (version ?? nil) ?? ""
    }
}
