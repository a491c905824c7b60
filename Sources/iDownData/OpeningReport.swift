// SPDX-License-Identifier: Apache-2.0

/// What happened when the store was opened; it goes to the log.
package struct OpeningReport: Hashable, Sendable {
    /// What was recovered from a damaged database.
    package struct Recovery: Hashable, Sendable {
        /// The new path of the damaged file; its `-wal` and `-shm` files, if any, are beside it.
        package var brokenPath: String
        /// SQLite's description of the damage.
        package var reason: String
        package var recoveredTasks = 0
    }

    /// Whether there was no database before.
    package var isNew: Bool
    /// The recovery; nil if the database was sound.
    package var recovery: Recovery?
}
