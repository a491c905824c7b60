// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization

/// Changes that wait for the writer: all that have gathered meanwhile share one transaction, and
/// so one fsync.
final class CommitQueue: Sendable {
    /// The changes of one call.
    struct Entry: Sendable {
        /// Makes the changes; what it returns answers the caller, once they are durable.
        let run: @Sendable (Transaction) throws -> @Sendable () -> Void
        /// Answers the caller when they could not be made durable.
        let fail: @Sendable (StoreFailure) -> Void
    }

    /// So many rows changed in one commit have filled SQLite's cache with what is not needed soon.
    private static let manyChanges = 5_000

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

    /// Another number after each commit, failed ones too; what was read under this one is still so.
    var lastCommit: Int { commits.load(ordering: .acquiring) }

    /// Queues an entry; entries are carried out in the order of these calls.
    func submit(_ entry: Entry) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(entry)
            return waiting.count == 1
        }
        // Whoever finds the queue empty calls the writer, which takes all that is there by then.
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
                // Not before: SQLite must not be asked about a connection that is closed.
                let before = database.totalChangesCount
                let transaction = Transaction(database: database, ids: ids)
                for entry in entries { answers.append(try entry.run(transaction)) }
                try faults?.check()
                changes = database.totalChangesCount - before
                return .commit
            }
            commits.add(1, ordering: .acquiringAndReleasing)
            for answer in answers { answer() }
            if changes > Self.manyChanges { database.releaseMemory() }
        } catch {
            commits.add(1, ordering: .acquiringAndReleasing)
            let failure = StoreFailure(error)
            for entry in entries { entry.fail(failure) }
        }
    }
}
