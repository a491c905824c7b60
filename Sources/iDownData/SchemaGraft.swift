// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc

/// Copies a database whose first page or schema is damaged, and gives the copy this version's
/// schema.
///
/// The schema tells at which page each table begins; without it even undamaged rows cannot be
/// found. A new store creates the tables of `Schema`'s version 1 in an empty file, always in the
/// same order, so that they begin at the same pages in every store, whatever was added later. If
/// they do not, the rows read there are not valid tasks and are skipped.
struct SchemaGraft {
    let path: String
    let files: Files
    let closed: ClosedConnections

    private var copy: String { path + ".graft" }

    /// Removes the copy, which holds URLs like the database itself.
    func remove() throws(FileFailure) {
        for suffix in [""] + DatabaseFile.companions { try files.remove(copy + suffix) }
    }

    /// Makes a copy with its own schema.
    ///
    /// - Returns: the copy; close it, then remove it.
    /// - Throws: errors of making the copy, and SQLite's errors about the damage.
    func openUnchanged() throws -> DatabaseQueue {
        try makeCopy()
        return try queue()
    }

    /// Makes a copy with the schema of another store.
    ///
    /// - Parameter sound: an undamaged store, whose schema tells where the tables begin.
    /// - Returns: the copy; close it, then remove it.
    /// - Throws: errors of making the copy, and SQLite's errors about the damage.
    func open(like sound: Database) throws -> DatabaseQueue {
        try makeCopy()
        let pageSize = try Int.fetchOne(sound, sql: "PRAGMA page_size") ?? 4_096
        try files.overwrite(copy, with: Self.firstPage(of: pageSize))
        let tables = try Row.fetchAll(
            sound,
            sql: """
                SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema
                WHERE type = 'table' OR sql IS NULL
                """
        )
        // Closed afterwards, because a connection keeps the schema that it read when it was opened.
        try closed.use(queue()) { queue in
            try queue.writeWithoutTransaction { database in
                for table in tables {
                    try database.execute(
                        sql: "INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)",
                        arguments: StatementArguments(table.databaseValues)
                    )
                }
            }
        }
        return try queue()
    }

    private func makeCopy() throws {
        try remove()
        // The log's content is newer than the database's, if SQLite finds the log valid.
        for suffix in ["", "-wal"] where try files.status(path + suffix) != nil {
            try files.copy(path + suffix, to: copy + suffix)
        }
    }

    private func queue() throws -> DatabaseQueue {
        try closed.open(copy, Configuration(), isLenient: true)
    }

    /// Returns the first page of a database in WAL mode with an empty schema
    /// (sqlite.org/fileformat.html).
    ///
    /// It lists no free pages, so that the schema does not overwrite existing pages, and no length,
    /// so that SQLite uses the file's size.
    static func firstPage(of size: Int) -> [UInt8] {
        var page = Array("SQLite format 3\u{0}".utf8)
        // A page size of 64 KiB is written as 1. WAL mode, no reserved bytes, three fixed
        // fractions.
        page += bigEndian(size == 65_536 ? 1 : size, bytes: 2) + [2, 2, 0, 64, 32, 32]
        // The change counter differs from the one at the end of the header, so that SQLite does not
        // use the length.
        page += bigEndian(1, bytes: 4)
        // The length, the first free page and the number of free pages.
        page += [UInt8](repeating: 0, count: 12)
        // The schema's cookie and format, the cache size and the vacuum setting, UTF-8.
        page += bigEndian(1, bytes: 4) + bigEndian(4, bytes: 4)
        page += [UInt8](repeating: 0, count: 8) + bigEndian(1, bytes: 4)
        page += [UInt8](repeating: 0, count: 100 - page.count)
        // An empty table leaf page; its content area begins at the end of the page.
        page += [13, 0, 0, 0, 0] + bigEndian(size == 65_536 ? 0 : size, bytes: 2) + [0]
        return page + [UInt8](repeating: 0, count: size - page.count)
    }

    private static func bigEndian(_ number: Int, bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: number >> (8 * (bytes - 1 - $0))) }
    }
}

extension Files {
    /// Copies a file to a new one with permissions 0600.
    fileprivate func copy(_ path: String, to target: String) throws(FileFailure) {
        try withDescriptor(path, O_RDONLY) { source throws(FileFailure) in
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
            try withDescriptor(target, flags) { descriptor throws(FileFailure) in
                var piece = [UInt8](repeating: 0, count: 1 << 18)
                while true {
                    let count = try call("read", path) {
                        Glibc.read(source, &piece, piece.count)
                    }
                    if count == 0 { return }
                    try write(piece[..<count], to: descriptor, target)
                }
            }
        }
    }

    /// Overwrites the beginning of a file.
    fileprivate func overwrite(_ path: String, with content: [UInt8]) throws(FileFailure) {
        try withDescriptor(path, O_WRONLY) { descriptor throws(FileFailure) in
            try write(content[...], to: descriptor, path)
        }
    }
}
