// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization
package import iDownState

/// The last answers to the questions that clients ask most often; each one is valid until the next
/// commit.
///
/// A client that shows a task asks for one property after another, which would read its row each
/// time.
struct RecentReads {
    var task: (commit: Int, id: TaskID, record: TaskRecord?)?
    var counts: (commit: Int, counts: TaskCounts)?
}

extension Store {
    /// Returns a task as it was last committed.
    package func committedTask(_ id: TaskID) async throws(StoreFailure) -> TaskRecord? {
        // Read before the row, so that a commit in between makes this number outdated.
        let commit = lastCommit
        if let last = recentReads.withLock(\.task), last.commit == commit, last.id == id {
            return last.record
        }
        let record = try await readNow { snapshot throws(StoreFailure) in try snapshot.task(id) }
        recentReads.withLock { $0.task = (commit, id, record) }
        return record
    }

    /// Returns how many tasks there were in each state after the last commit.
    package func committedCounts() async throws(StoreFailure) -> TaskCounts {
        let commit = lastCommit
        if let last = recentReads.withLock(\.counts), last.commit == commit { return last.counts }
        let counts = try await readNow { snapshot throws(StoreFailure) in try snapshot.counts() }
        recentReads.withLock { $0.counts = (commit, counts) }
        return counts
    }

    /// Reads a few rows of the last commit, on the caller's thread.
    ///
    /// It is for frequent questions: handing such a short read to another thread and back takes
    /// many times longer than the read itself. Each statement of the body sees the last commit on
    /// its own.
    package func readNow<T: Sendable>(
        _ body: @Sendable @escaping (Snapshot) throws(StoreFailure) -> T
    ) async throws(StoreFailure) -> T {
        do throws(StoreFailure) {
            return try readOnThisThread(body)
        } catch {
            guard error.isBusy else { throw error }
            // Another process has locked the file; the caller's thread must not wait for it.
            return try await read(body)
        }
    }

    private func readOnThisThread<T>(
        _ body: (Snapshot) throws(StoreFailure) -> T
    ) throws(StoreFailure) -> T {
        let result = quickReader.unsafeRead { database in
            Result { () throws(StoreFailure) in
                guard database.sqliteConnection != nil else { throw .closed }
                return try body(Snapshot(database: database, ids: ids))
            }
        }
        return try result.get()
    }
}
