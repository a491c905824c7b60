// SPDX-License-Identifier: Apache-2.0

import GRDB
package import iDownState

extension StoreAccess {
    /// Calls `body` with each task on one page of a search, without those with the intent to
    /// remove.
    ///
    /// A row that cannot be read is left out.
    ///
    /// - Parameters:
    ///   - search: selects, orders and pages the tasks.
    ///   - body: receives each task; returns whether to go on.
    /// - Returns: how many tasks match the search on all pages together.
    /// - Throws: `StoreFailure.database`, or what `body` throws.
    package func forEachFound(
        _ search: TaskSearch,
        _ body: (TaskRecord) throws -> Bool
    ) throws -> Int {
        let total = try total(of: search)
        guard search.limit > 0, search.offset < total else { return total }
        try forEachRecord(search.recordsStatement, arguments(of: search), isKept: false, body)
        return total
    }

    private func total(of search: TaskSearch) throws(StoreFailure) -> Int {
        guard search.text != nil || search.adder != nil else {
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
        let text = search.text ?? ""
        let (name, url) = (FoldedText.fold(text), FoldedText.foldURL(text))
        // A text such as `%00` folds to the empty text, which would match every URL.
        let texts = [name, url.isEmpty ? name : url]
        switch search.adder {
        case .application(let id), .owner(let id): return StatementArguments(texts + [id])
        case nil: return search.text == nil ? [] : StatementArguments(texts)
        }
    }
}
