// SPDX-License-Identifier: Apache-2.0

import GRDB
import iDownState

/// The tasks on pages to which nothing leads any more, since the table's root or a page below it is
/// damaged.
///
/// Each page of a copy in turn is taken for the root of the table, so that it is SQLite that reads
/// what stands there. What is no page of this table gives an error, or no task. Pages that are free
/// hold nothing: deleted content is overwritten (`secure_delete`).
struct StrayTasks {
    /// No page holds as many rows, the largest of 64 KiB included.
    private static let mostRows = 2_000

    let copy: Database
    /// A select of `TaskColumn`, which walks through the whole table.
    let select: String

    /// Calls `body` with each task that is found, in the order of the pages; one may come twice.
    func forEach(_ body: (TaskRecord) throws -> Void) throws {
        // A copy need not outlast a power cut.
        try copy.execute(sql: "PRAGMA synchronous = OFF")
        let count = try Int.fetchOne(copy, sql: "PRAGMA page_count") ?? 0
        // The first page belongs to the schema.
        for page in stride(from: 2, through: count, by: 1) {
            try begin(at: page)
            guard let rows = try? Row.fetchCursor(copy, sql: "\(select) LIMIT \(Self.mostRows)")
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
        // Has the schema read anew, and forbids to change it (sqlite.org/pragma.html).
        try copy.execute(sql: "PRAGMA writable_schema = RESET")
        try copy.execute(sql: "PRAGMA writable_schema = ON")
    }
}
