// SPDX-License-Identifier: Apache-2.0

import GRDB
package import iDownState

// The logins in URLs, and the places where moved logins are kept.
extension StoreAccess {
    /// Returns the tasks whose URLs contain a user name or a password, in order of ids.
    ///
    /// Tasks that cannot be read are left out.
    ///
    /// - Parameters:
    ///   - first: starts after this id; nil starts with the first task.
    ///   - limit: returns at most this many tasks.
    /// - Returns: the tasks.
    /// - Throws: `StoreFailure.database`.
    package func tasksWithLogins(
        after first: TaskID?,
        limit: Int
    ) throws(StoreFailure) -> [TaskRecord] {
        try records(.withLogins, [first?.rawValue ?? 0, limit])
    }

    /// Whether the logins that are kept under this id belong to a task.
    package func needsLogins(keptAt id: String) throws(StoreFailure) -> Bool {
        let keys = [true, false].map { LoginKey(id: id, isForURL: $0).rawValue }
        return try !ids(.withLoginKey, [keys[0], keys[1]]).isEmpty
    }

    /// Returns the keys of all kept logins, each key once.
    package func loginKeys(limit: Int) throws(StoreFailure) -> [LoginKey] {
        try values(.loginKeys, [limit]) { row in LoginKey(rawValue: text(row, 0)) }
    }

    /// Returns the tasks that failed, or wait for a retry, because their kept logins could not be
    /// read.
    package func tasksWithUnreadableLogins() throws(StoreFailure) -> [TaskID] {
        try ids(.unreadableLogins)
    }
}

extension Store {
    /// Empties the write-ahead log, from which overwritten content could still be read.
    ///
    /// - Throws: `StoreFailure.database` if readers use the log for longer than 0.2 s: commits wait
    ///   meanwhile.
    package func emptyLog() async throws(StoreFailure) {
        let result = await withCheckedContinuation { continuation in
            let empty: @Sendable (Database) -> Void = { database in
                continuation.resume(
                    returning: Result { () throws(StoreFailure) in
                        try translatingErrors {
                            try database.execute(sql: "PRAGMA busy_timeout = 200")
                            defer {
                                let usual = DatabaseFile.busyTimeout
                                try? database.execute(sql: "PRAGMA busy_timeout = \(usual)")
                            }
                            _ = try database.checkpoint(.truncate)
                        }
                    }
                )
            }
            if blocks {
                pool.writeWithoutTransaction(empty)
            } else {
                pool.asyncWriteWithoutTransaction(empty)
            }
        }
        try result.get()
    }
}
