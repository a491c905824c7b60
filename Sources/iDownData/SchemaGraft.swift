// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc

/// A copy of a database whose first page or schema is damaged, with our own schema in its place.
///
/// The schema says where each table begins; without it no row can be found, sound as it may be. The
/// tables of `Schema`'s version 1 are made in an empty file, in the same order each time, so they
/// begin at the same pages in every store, whatever was added later. Where they do not after all,
/// what is read there is no task, and is not taken.
struct SchemaGraft {
    let path: String
    let files: Files
    let closed: ClosedConnections

    private var copy: String { path + ".graft" }

    /// Removes what is left of a copy, which holds URLs as the database does.
    func remove() throws(FileFailure) {
        for suffix in [""] + DatabaseFile.companions { try files.remove(copy + suffix) }
    }

    /// Makes a copy with the schema that is there.
    ///
    /// - Returns: the copy, to be closed, and then removed.
    /// - Throws: what keeps a copy from being made, and SQLite's errors over the damage.
    func openAsItIs() throws -> DatabaseQueue {
        try makeCopy()
        return try queue()
    }

    /// Makes the copy.
    ///
    /// - Parameter sound: any other store, which tells where the tables begin.
    /// - Returns: the copy, to be closed, and then removed.
    /// - Throws: what keeps a copy from being made, and SQLite's errors over the damage.
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
        // A connection knows the schema as it was when it was opened.
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
        // What stands in the log is newer than the database, as long as SQLite finds it sound.
        for suffix in ["", "-wal"] where try files.status(path + suffix) != nil {
            try files.copy(path + suffix, to: copy + suffix)
        }
    }

    private func queue() throws -> DatabaseQueue {
        try closed.open(copy, Configuration(), isLenient: true)
    }

    /// The first page of a database in WAL mode with an empty schema, by sqlite.org/fileformat.html.
    ///
    /// No free pages, so that nothing that is there is taken for the schema; and no length, for
    /// which SQLite then looks at the file.
    static func firstPage(of size: Int) -> [UInt8] {
        var page = Array("SQLite format 3\u{0}".utf8)
        // A page of 64 KiB is written as 1. Then WAL, no reserved bytes, and three fixed fractions.
        page += bigEndian(size == 65_536 ? 1 : size, bytes: 2) + [2, 2, 0, 64, 32, 32]
        // The change counter, which differs from the one at the end, so that the length is not used.
        page += bigEndian(1, bytes: 4)
        // The length, the first free page, their number.
        page += [UInt8](repeating: 0, count: 12)
        // The schema's number and format, cache and vacuum, UTF-8.
        page += bigEndian(1, bytes: 4) + bigEndian(4, bytes: 4)
        page += [UInt8](repeating: 0, count: 8) + bigEndian(1, bytes: 4)
        page += [UInt8](repeating: 0, count: 100 - page.count)
        // A leaf of a table without cells, the content of which begins at the end of the page.
        page += [13, 0, 0, 0, 0] + bigEndian(size == 65_536 ? 0 : size, bytes: 2) + [0]
        return page + [UInt8](repeating: 0, count: size - page.count)
    }

    private static func bigEndian(_ number: Int, bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: number >> (8 * (bytes - 1 - $0))) }
    }
}

extension Files {
    /// Copies a file to a new one, 0600.
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

    /// Puts `content` over the file's first bytes.
    fileprivate func overwrite(_ path: String, with content: [UInt8]) throws(FileFailure) {
        try withDescriptor(path, O_WRONLY) { descriptor throws(FileFailure) in
            try write(content[...], to: descriptor, path)
        }
    }
}
