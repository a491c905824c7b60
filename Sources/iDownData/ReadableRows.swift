// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The rows of a damaged table, as far as they can be read, in the order of their numbers.
///
/// It walks through the table; where it meets damage it asks for one number after the other,
/// until a row answers, and walks on from there. The row is valid until the next is asked for.
struct ReadableRows: Sequence, IteratorProtocol {
    /// Without a bound, so many numbers in turn without a row are the end.
    private static let longestGap: Int64 = 10_000

    private let select: String
    private let number: String
    /// No row has this number or a higher one; nil where that is not known.
    private let bound: Int64?
    private let database: Database

    private var walk: RowCursor?
    /// All rows up to this number are dealt with.
    private var position: Int64 = 0

    /// - Parameters:
    ///   - select: a statement without conditions, the row's number its first column.
    ///   - number: the name of the table's integer primary key.
    ///   - bound: above all numbers; nil where that is not known.
    ///   - database: only read.
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
            // Damage can lead a walk back to where it was.
            guard let found = number(of: row), found > position else { return probe() }
            position = found
            return row
        } catch {
            return probe()
        }
    }

    /// Asks for single rows behind `position`; the next call walks on from the one found.
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
