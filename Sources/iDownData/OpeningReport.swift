// SPDX-License-Identifier: Apache-2.0

/// What happened when the store was opened, for the log.
package struct OpeningReport: Hashable, Sendable {
    /// What was saved from a damaged database.
    package struct Recovery: Hashable, Sendable {
        /// Where the damaged file stands now, with its `-wal` and `-shm` if it had them.
        package var brokenPath: String
        /// What SQLite said of the damage.
        package var reason: String
        package var carriedTasks: Int
        package var carriedTokens: Int
        /// Nil where the damage hides how many there were.
        package var lostTasks: Int?
    }

    /// There was no database before.
    package var isNew: Bool
    /// Nil when the database was sound.
    package var recovery: Recovery?
}
