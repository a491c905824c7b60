// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Store {
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
