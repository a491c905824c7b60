// SPDX-License-Identifier: Apache-2.0

import GRDB
import iDownState

/// Finds tasks on pages that the damaged table no longer refers to, because its root or a page
/// below it is damaged.
///
/// It makes each page of a copy the root of the table in turn, so that SQLite itself reads the
/// page. A page that does not belong to the table gives an error or no valid task. Free pages hold
/// nothing, because deleted content is overwritten (`secure_delete`).
struct StrayTasks {
    /// More rows than any page holds, even one of 64 KiB.
    private static let maxRows = 2_000

    let copy: Database
    /// A SELECT of `TaskColumn` without conditions.
    let select: String

    /// Calls `body` with each task that is found, in the order of the pages; a task may come twice.
    func forEach(_ body: (TaskRecord) throws -> Void) throws {
        // The copy need not survive a power cut.
        try copy.execute(sql: "PRAGMA synchronous = OFF")
        let count = try Int.fetchOne(copy, sql: "PRAGMA page_count") ?? 0
        // The first page belongs to the schema.
        for page in stride(from: 2, through: count, by: 1) {
            try begin(at: page)
            guard let rows = try? Row.fetchCursor(copy, sql: "\(select) LIMIT \(Self.maxRows)")
            else { continue }
            while let row = try? rows.next() {
                if let record = try? TaskRow(row: row).record() { try body(record) }
            }
        }
    }

    private func begin(at page: Int) throws {
        try copy.execute(
            sql: "UPDATE sqlite_schema SET rootpage = ? WHERE type = 'table' AND name = 'task'",
            arguments: [page]
        )
        // RESET makes SQLite read the schema again, and forbids changes to it
        // (sqlite.org/pragma.html).
        try copy.execute(sql: "PRAGMA writable_schema = RESET")
        try copy.execute(sql: "PRAGMA writable_schema = ON")
    }
}
