// SPDX-License-Identifier: Apache-2.0

import GRDB
package import iDownState

// The logins of URLs, and where those are kept that were taken out of them.
extension StoreAccess {
    /// Tasks in whose URLs names or passwords stand, in order of ids.
    ///
    /// One that cannot be read is left out.
    ///
    /// - Parameters:
    ///   - first: goes on behind this id; nil begins with the first.
    ///   - limit: no more than so many.
    /// - Returns: the tasks.
    /// - Throws: `StoreFailure.database`.
    package func tasksWithLogins(
        after first: TaskID?,
        limit: Int
    ) throws(StoreFailure) -> [TaskRecord] {
        var ids: [TaskID] = []
        try forEachRow(.withLogins, [first?.rawValue ?? 0, limit]) { id, _ in ids.append(id) }
        var records: [TaskRecord] = []
        for id in ids {
            if let record = try? task(id) { records.append(record) }
        }
        return records
    }

    /// Whether a task has logins that are kept under this id.
    package func needsLogins(keptAt id: String) throws(StoreFailure) -> Bool {
        let keys = [true, false].map { LoginKey(id: id, isForURL: $0).rawValue }
        var isFound = false
        try forEachRow(.withLoginKey, [keys[0], keys[1]]) { _, _ in isFound = true }
        return isFound
    }

    /// Where logins are kept, each once.
    package func loginKeys(limit: Int) throws(StoreFailure) -> [LoginKey] {
        try translatingErrors {
            var keys: [LoginKey] = []
            let rows = try rows(Query.loginKeys.rawValue, [limit])
            while let row = try rows.next() {
                if let key = LoginKey(rawValue: text(row, 0)) { keys.append(key) }
            }
            return keys
        }
    }

    /// Tasks that failed, or wait for another try, because their kept logins could not be read.
    package func lockedOut() throws(StoreFailure) -> [TaskID] {
        var ids: [TaskID] = []
        try forEachRow(.lockedOut) { id, _ in ids.append(id) }
        return ids
    }
}

extension Store {
    /// Empties the log of changes, in which what was overwritten can still be read.
    ///
    /// - Throws: `StoreFailure.database` where readers do not let go of it in time.
    package func emptyLog() async throws(StoreFailure) {
        let result = await withCheckedContinuation { continuation in
            pool.asyncWriteWithoutTransaction { database in
                continuation.resume(
                    returning: Result { () throws(StoreFailure) in
                        try translatingErrors { _ = try database.checkpoint(.truncate) }
                    }
                )
            }
        }
        try result.get()
    }
}
