// SPDX-License-Identifier: Apache-2.0

import GRDB
package import iDownState

extension StoreAccess {
    /// One page of the tasks that a search finds, those with the intent to remove left out.
    ///
    /// - Returns: the tasks of the page in order, unreadable ones left out, and how many the search
    ///   finds in all.
    package func find(
        _ search: TaskSearch
    ) throws(StoreFailure) -> (page: [TaskID], total: Int) {
        let total = try total(of: search)
        guard search.limit > 0, search.offset < total else { return ([], total) }
        return try translatingErrors {
            // Pages differ in their numbers: such a statement is not worth keeping.
            let rows = try Row.fetchCursor(
                database,
                sql: search.pageStatement,
                arguments: arguments(of: search)
            )
            var page: [TaskID] = []
            while let row = try rows.next() {
                let value: DatabaseValue = row[0]
                guard let id = Int64.fromDatabaseValue(value).flatMap(TaskID.init(rawValue:))
                else { continue }
                page.append(id)
            }
            return (page, total)
        }
    }

    private func total(of search: TaskSearch) throws(StoreFailure) -> Int {
        guard search.text != nil else {
            let counts = try counts()
            return search.states.reduce(0) { $0 + counts[$1] }
        }
        return try translatingErrors {
            let count = try DatabaseValue.fetchOne(
                database,
                sql: search.countStatement,
                arguments: arguments(of: search)
            )
            return count.flatMap(Int.fromDatabaseValue) ?? 0
        }
    }

    private func arguments(of search: TaskSearch) -> StatementArguments {
        guard let text = search.text else { return StatementArguments() }
        return [FoldedText.fold(text), FoldedText.foldURL(text)]
    }
}
