// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization

/// Queues changes for the database's writer.
///
/// All changes that gather while it is busy share one transaction, and so one fsync.
final class WriteQueue: Sendable {
    /// The changes of one call.
    struct Entry: Sendable {
        /// Makes the changes.
        ///
        /// The returned closure answers the caller once the changes are durable.
        let run: @Sendable (Transaction) throws -> @Sendable () -> Void
        /// Answers the caller if the changes could not be made durable.
        let fail: @Sendable (StoreFailure) -> Void
    }

    /// After a commit that changes more rows than this, SQLite's cache is released: it is full of
    /// pages that are not needed soon.
    private static let cacheReleaseThreshold = 5_000

    private let pool: DatabasePool
    private let ids: IDReservation
    private let faults: CommitFaults?
    private let blocks: Bool
    private let waiting = Mutex<[Entry]>([])
    private let commits = Atomic(0)

    init(pool: DatabasePool, ids: IDReservation, faults: CommitFaults?, blocks: Bool) {
        self.pool = pool
        self.blocks = blocks
        self.ids = ids
        self.faults = faults
    }

    /// The number of commits so far, including failed ones.
    ///
    /// While it stays the same, what was read stays true.
    var lastCommit: Int { commits.load(ordering: .acquiring) }

    /// Queues an entry; entries run in the order of these calls.
    func submit(_ entry: Entry) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(entry)
            return waiting.count == 1
        }
        // Only the call that finds the queue empty starts the writer, which then takes all entries.
        guard isFirst else { return }
        if blocks {
            pool.writeWithoutTransaction { commitAll(in: $0) }
        } else {
            pool.asyncWriteWithoutTransaction { [self] in commitAll(in: $0) }
        }
    }

    private func commitAll(in database: Database) {
        let entries = waiting.withLock { waiting in
            let entries = waiting
            waiting = []
            return entries
        }
        do {
            var answers: [@Sendable () -> Void] = []
            var changes = 0
            try database.inTransaction(.immediate) {
                // Read inside the transaction, because it fails on a closed connection, which must
                // not be asked.
                let before = database.totalChangesCount
                let transaction = Transaction(database: database, ids: ids)
                for entry in entries { answers.append(try entry.run(transaction)) }
                try faults?.check()
                changes = database.totalChangesCount - before
                return .commit
            }
            commits.add(1, ordering: .acquiringAndReleasing)
            for answer in answers { answer() }
            if changes > Self.cacheReleaseThreshold { database.releaseMemory() }
        } catch {
            commits.add(1, ordering: .acquiringAndReleasing)
            let failure = StoreFailure(error)
            for entry in entries { entry.fail(failure) }
        }
    }
}
