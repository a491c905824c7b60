// SPDX-License-Identifier: Apache-2.0

import GRDB
import iDownState

/// The right to read only.
package enum ReadOnly {}

/// The right to read and to write.
package enum ReadWrite {}

/// One consistent view of the store, without changes made by others meanwhile.
package typealias Snapshot = StoreAccess<ReadOnly>

/// A view of the store in which changes are made, and seen at once by its own reads.
package typealias Transaction = StoreAccess<ReadWrite>

/// What a body given to the store works on: the same reads for both rights.
///
/// Valid only inside the body; not Sendable, so that it stays there.
package struct StoreAccess<Right> {
    let database: Database
    let ids: IDReservation

    /// Runs a statement that is prepared once a connection; rows come one by one.
    func rows(
        _ sql: String,
        _ arguments: StatementArguments = StatementArguments()
    ) throws -> RowCursor {
        let statement = try database.cachedStatement(sql: sql)
        return try Row.fetchCursor(statement, arguments: arguments)
    }

    /// Runs a statement that answers nothing; how many rows it changed.
    @discardableResult
    func execute(
        _ sql: String,
        _ arguments: StatementArguments
    ) throws(StoreFailure) -> Int {
        try translatingErrors {
            try database.cachedStatement(sql: sql).execute(arguments: arguments)
            return database.changesCount
        }
    }
}
