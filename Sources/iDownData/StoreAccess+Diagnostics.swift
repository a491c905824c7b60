// SPDX-License-Identifier: Apache-2.0

import GRDB

extension StoreAccess {
    /// Runs any statement; each row as text, NULL as the empty one.
    ///
    /// Internal: tests ask SQLite for its plans and pragmas by it, and do damage that the store
    /// itself never does.
    func texts(_ sql: String) throws(StoreFailure) -> [[String]] {
        try translatingErrors {
            try Row.fetchAll(database, sql: sql).map { row in
                row.databaseValues.map { value in
                    value.isNull ? "" : String.fromDatabaseValue(value) ?? "\(value)"
                }
            }
        }
    }
}
