// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The readable rows of a damaged table, in the order of their numbers.
///
/// It scans the table. At a damaged place it asks for single rows by number until one can be read,
/// then scans on from there. A row is valid until the next one is read.
struct ReadableRows: Sequence, IteratorProtocol {
    /// If no bound is known, this many numbers in a row without a readable row are taken for the
    /// end.
    private static let longestGap: Int64 = 10_000

    private let select: String
    private let number: String
    /// All rows have numbers below this one; nil where that is not known.
    private let bound: Int64?
    private let database: Database

    private var walk: RowCursor?
    /// All rows up to this number have been read or skipped.
    private var position: Int64 = 0

    /// - Parameters:
    ///   - select: a SELECT without conditions, whose first column is the row's number.
    ///   - number: the name of the table's integer primary key.
    ///   - bound: a number above all rows' numbers; nil where that is not known.
    ///   - database: the damaged database, which is only read.
    init(_ select: String, by number: String, below bound: Int64?, in database: Database) {
        self.select = select
        self.number = number
        self.bound = bound
        self.database = database
    }

    mutating func next() -> Row? {
        do {
            let rows =
                try walk
                ?? Row.fetchCursor(
                    database,
                    sql: "\(select) WHERE \(number) > ? ORDER BY \(number)",
                    arguments: [position]
                )
            walk = rows
            guard let row = try rows.next() else { return nil }
            // Damage can lead a scan back to earlier rows.
            guard let found = number(of: row), found > position else { return probe() }
            position = found
            return row
        } catch {
            return probe()
        }
    }

    /// Asks for single rows after `position`; the next call scans on from the row found.
    private mutating func probe() -> Row? {
        walk = nil
        let (gapEnd, overflow) = position.addingReportingOverflow(Self.longestGap)
        let end = bound ?? (overflow ? .max : gapEnd)
        while position < end {
            position += 1
            guard let row = try? row(position), number(of: row) == position else { continue }
            return row
        }
        return nil
    }

    private func row(_ position: Int64) throws -> Row? {
        let statement = try database.cachedStatement(sql: "\(select) WHERE \(number) = ?")
        return try Row.fetchOne(statement, arguments: [position])
    }

    private func number(of row: Row) -> Int64? {
        let value: DatabaseValue = row[0]
        return Int64.fromDatabaseValue(value)
    }
}
