// SPDX-License-Identifier: Apache-2.0

import GRDB

extension StoreAccess {
    /// Runs any statement, and returns each row's values as text, with NULL as empty text.
    ///
    /// It is for tests, which read query plans and pragmas, and make damage that the store itself
    /// never makes.
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
