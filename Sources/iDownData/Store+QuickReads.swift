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
    var task: (commit: Int, id: TaskID, record: Shared<TaskRecord>?)?
    var counts: (commit: Int, counts: TaskCounts)?
}

extension Store {
    /// Returns a task as it was last committed.
    package func committedTask(_ id: TaskID) async throws -> Shared<TaskRecord>? {
        // Read before the row, so that a commit in between makes this number outdated.
        let commit = lastCommit
        if let last = recentReads.withLock(\.task), last.commit == commit, last.id == id {
            return last.record
        }
        let record = try await readNow { try $0.task(id) }.map { Shared($0) }
        recentReads.withLock { $0.task = (commit, id, record) }
        return record
    }

    /// Returns a task as it was last committed, if it is the one that was read last; else nil.
    package func recentTask(_ id: TaskID) -> Shared<TaskRecord>? {
        let commit = lastCommit
        return recentReads.withLock { last in
            guard let task = last.task, task.commit == commit, task.id == id else { return nil }
            return task.record
        }
    }

    /// Returns how many tasks there were in each state after the last commit, if they have been
    /// counted since; else nil.
    package func recentCounts() -> TaskCounts? {
        let commit = lastCommit
        return recentReads.withLock { last in
            guard let last = last.counts, last.commit == commit else { return nil }
            return last.counts
        }
    }

    /// Returns how many tasks there were in each state after the last commit.
    package func committedCounts() async throws -> TaskCounts {
        let commit = lastCommit
        if let counts = recentCounts() { return counts }
        let counts = try await readNow { try $0.counts() }
        recentReads.withLock { $0.counts = (commit, counts) }
        return counts
    }

    /// Reads a few rows of the last commit, on the caller's thread.
    ///
    /// It is for frequent questions: handing such a short read to another thread and back takes
    /// many times longer than the read itself. Each statement of the body sees the last commit on
    /// its own.
    package func readNow<T: Sendable>(
        _ body: @Sendable @escaping (Snapshot) throws -> T
    ) async throws -> T {
        do {
            return try readOnThisThread(body)
        } catch let failure as StoreFailure where failure.isBusy {
            // Another process has locked the file; the caller's thread must not wait for it.
            return try await read(body)
        }
    }

    private func readOnThisThread<T>(_ body: (Snapshot) throws -> T) throws -> T {
        try quickReader.unsafeRead { database in
            guard database.sqliteConnection != nil else { throw StoreFailure.closed }
            return try body(Snapshot(database: database, ids: ids))
        }
    }
}
