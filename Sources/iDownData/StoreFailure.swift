// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc

/// Why the store did not carry out a call; nothing has changed then.
package enum StoreFailure: Error, Hashable, Sendable {
    /// The database was written by a newer idown.
    ///
    /// The database was not changed.
    case newerSchema
    /// A row holds a value that idown never writes; `id` is the row's number, `column` its first
    /// such column.
    case corruptRecord(id: Int64, column: String)
    /// An error of SQLite: its extended result code and its message, which never contains a stored
    /// value.
    case database(code: Int32, message: String)
    case file(FileFailure)
    /// The store was closed.
    case closed
    /// All task ids have been given.
    case idsExhausted

    /// Translates an error of GRDB; a `StoreFailure` stays as it is.
    init(_ error: any Error) {
        switch error {
        case let failure as StoreFailure:
            self = failure
        case let failure as FileFailure:
            self = .file(failure)
        case let failure as DatabaseError where failure.resultCode == .SQLITE_MISUSE:
            // GRDB reports a closed connection with this code.
            self = .closed
        case let failure as DatabaseError:
            // Not the error's description, which may show SQL with values.
            self = .database(
                code: failure.extendedResultCode.rawValue,
                message: failure.message ?? ""
            )
        default:
            self = .database(
                code: ResultCode.SQLITE_ERROR.rawValue,
                message: String(describing: type(of: error))
            )
        }
    }

    /// SQLite's extended result code; nil for what is no error of SQLite.
    private var resultCode: ResultCode? {
        if case .database(let code, _) = self { ResultCode(rawValue: code) } else { nil }
    }

    /// Whether a read-only connection met an unfinished change that a crash left:
    /// sqlite.org/rescode.html.
    var needsRecovery: Bool {
        [.SQLITE_READONLY_ROLLBACK, .SQLITE_READONLY_RECOVERY, .SQLITE_READONLY_CANTINIT]
            .contains(resultCode)
    }

    /// Whether the disk has no room left.
    package var isFullDisk: Bool {
        switch self {
        case .database(let code, _):
            // The index of the log is a file as well, and SQLite does not know a full quota (EDQUOT).
            [.SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_WRITE].contains(ResultCode(rawValue: code))
                || ResultCode(rawValue: code & 0xff) == .SQLITE_FULL
        case .file(let failure): failure.code == ENOSPC || failure.code == EDQUOT
        case .newerSchema, .corruptRecord, .closed, .idsExhausted: false
        }
    }

    /// Whether another connection holds a lock on the database at this moment.
    var isBusy: Bool { resultCode?.primaryResultCode == .SQLITE_BUSY }

    /// Whether the file's content is damaged, the only kind of error for which it is moved aside.
    var isCorruption: Bool {
        [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(resultCode?.primaryResultCode)
    }
}

extension StoreFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .newerSchema: "the store was written by a newer version of idown"
        case .corruptRecord(let id, let column): "task \(id) cannot be read: \(column)"
        case .database(let code, let message): "SQLite error \(code): \(message)"
        case .file(let failure): failure.description
        case .closed: "the store is closed"
        case .idsExhausted: "no task number is left"
        }
    }
}

/// Runs `body`, and throws its errors as `StoreFailure`.
func translatingErrors<R>(_ body: () throws -> R) throws(StoreFailure) -> R {
    do {
        return try body()
    } catch {
        throw StoreFailure(error)
    }
}
