// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Why the store did not do what was asked; nothing has changed then.
package enum StoreFailure: Error, Hashable, Sendable {
    /// The database was written by a newer idown. It was not touched.
    case newerSchema
    /// A row holds what no idown writes; `id` is its number, `column` the first at fault.
    case corruptRecord(id: Int64, column: String)
    /// SQLite's extended result code and text, which never holds a stored value.
    case database(code: Int32, message: String)
    case file(FileFailure)
    /// The store was closed.
    case closed
    /// There is no number left for another task.
    case idsExhausted

    /// Translates what GRDB throws; what is ours already stays as it is.
    init(_ error: any Error) {
        switch error {
        case let failure as StoreFailure:
            self = failure
        case let failure as FileFailure:
            self = .file(failure)
        case let failure as DatabaseError where failure.resultCode == .SQLITE_MISUSE:
            // GRDB's answer for a closed connection.
            self = .closed
        case let failure as DatabaseError:
            // Not its description, which may show SQL with its values.
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

    /// A read-only look met what a crash left of a change; sqlite.org/rescode.html.
    var needsRecovery: Bool {
        guard case .database(let code, _) = self else { return false }
        let codes: [ResultCode] = [
            .SQLITE_READONLY_ROLLBACK, .SQLITE_READONLY_RECOVERY, .SQLITE_READONLY_CANTINIT,
        ]
        return codes.contains { $0.rawValue == code }
    }

    /// Somebody else holds the database at this moment.
    var isBusy: Bool {
        guard case .database(let code, _) = self else { return false }
        return ResultCode(rawValue: code & 0xff) == .SQLITE_BUSY
    }

    /// The content of the file is damaged: the one kind of trouble that moves it aside.
    var isCorruption: Bool {
        guard case .database(let code, _) = self else { return false }
        let primary = ResultCode(rawValue: code & 0xff)
        return primary == .SQLITE_CORRUPT || primary == .SQLITE_NOTADB
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

/// Runs `body`; what it throws comes out as a `StoreFailure`.
func translatingErrors<R>(_ body: () throws -> R) throws(StoreFailure) -> R {
    do {
        return try body()
    } catch {
        throw StoreFailure(error)
    }
}
