// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization
package import iDownState

/// The last answers to what clients ask all the time, each good until the next commit.
///
/// Who shows a task asks for one property after the other, and reads its row each time.
struct Looked {
    var task: (commit: Int, id: TaskID, record: TaskRecord?)?
    var counts: (commit: Int, counts: TaskCounts)?
}

extension Store {
    /// A task as it was last committed.
    package func lookAt(_ id: TaskID) async throws(StoreFailure) -> TaskRecord? {
        // Read before the row: what is committed meanwhile makes it another number.
        let commit = commits.lastCommit
        if let last = looked.withLock(\.task), last.commit == commit, last.id == id {
            return last.record
        }
        let record = try await look { snapshot throws(StoreFailure) in try snapshot.task(id) }
        looked.withLock { $0.task = (commit, id, record) }
        return record
    }

    /// How many tasks there were in each state after the last commit.
    package func lookAtCounts() async throws(StoreFailure) -> TaskCounts {
        let commit = commits.lastCommit
        if let last = looked.withLock(\.counts), last.commit == commit { return last.counts }
        let counts = try await look { snapshot throws(StoreFailure) in try snapshot.counts() }
        looked.withLock { $0.counts = (commit, counts) }
        return counts
    }

    /// Looks at a row or two of the last commit, on the caller's thread.
    ///
    /// For what clients ask all the time: to hand such a look to another thread and back costs many
    /// times the look itself. Each statement of the body sees the last commit by itself.
    package func look<T: Sendable>(
        _ body: @Sendable @escaping (Snapshot) throws(StoreFailure) -> T
    ) async throws(StoreFailure) -> T {
        do throws(StoreFailure) {
            return try lookHere(body)
        } catch {
            guard error.isBusy else { throw error }
            // Another program has the file for itself: not for the caller's thread to wait for.
            return try await read(body)
        }
    }

    private func lookHere<T>(
        _ body: (Snapshot) throws(StoreFailure) -> T
    ) throws(StoreFailure) -> T {
        let result = looks.unsafeRead { database in
            Result { () throws(StoreFailure) in
                guard database.sqliteConnection != nil else { throw .closed }
                return try body(Snapshot(database: database, ids: ids))
            }
        }
        return try result.get()
    }
}
