// SPDX-License-Identifier: Apache-2.0

import GRDB
import iDownState

/// Marks access that only reads.
package enum ReadOnly {}

/// Marks access that reads and writes.
package enum ReadWrite {}

/// A consistent view of the store that later commits do not change.
package typealias Snapshot = StoreAccess<ReadOnly>

/// A transaction in the store, whose own reads see its changes at once.
package typealias Transaction = StoreAccess<ReadWrite>

/// Access to the store inside of a body; reads work the same for both rights.
///
/// It is valid only inside the body, and not Sendable so that it cannot leave it.
package struct StoreAccess<Right> {
    let database: Database
    let ids: IDReservation
    /// The numbers that this transaction gives; shared by all of its bodies.
    let numbers = CommitNumbers()

    /// Runs a query, which each connection prepares only once; the rows come one by one.
    func rows(
        _ query: Query,
        _ arguments: StatementArguments = StatementArguments()
    ) throws -> RowCursor {
        let statement = try database.cachedStatement(sql: query.rawValue)
        return try Row.fetchCursor(statement, arguments: arguments)
    }

    /// Runs a statement without a result, and returns how many rows it changed.
    @discardableResult
    func execute(_ sql: String, _ arguments: StatementArguments) throws(StoreFailure) -> Int {
        try translatingErrors {
            try database.cachedStatement(sql: sql).execute(arguments: arguments)
            return database.changesCount
        }
    }
}
