// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import iDownSettings
import iDownState

/// A row of the table `task`; reading it never traps, whatever a damaged row holds.
struct TaskRow {
    /// Where the columns are read from.
    private enum Source {
        case statement(SQLiteStatement)
        case row(Row)
    }

    private let source: Source

    /// Takes the current row of a statement, one of `TaskColumn`'s selects; valid until its next
    /// step.
    ///
    /// Its columns are read from SQLite directly, because reading them from a Row takes twice as
    /// long.
    init(of statement: Statement) { source = .statement(statement.sqliteStatement) }

    /// Takes a row of one of these selects.
    init(row: Row) { source = .row(row) }

    /// The record.
    ///
    /// - Throws: `StoreFailure.corruptRecord` with the first column that no idown would write.
    func record() throws(StoreFailure) -> TaskRecord {
        guard let id = TaskID(rawValue: try value(.id)) else { throw corrupt(.id) }
        var record = TaskRecord(
            id: id,
            request: try request(),
            createdAt: WallTime(microseconds: try value(.createdAt)),
            priority: try value(.priority),
            speedLimit: try count(.speedLimit)
        )
        record.serial = try count(.serial)
        record.state = try state()
        record.attempt = AttemptNumber(rawValue: try value(.attempt))
        record.startOrder = try count(.startOrder)
        record.tries = try value(.tries)
        record.waited = .microseconds(try count(.waited))
        record.hostHasAnswered = try value(.hostHasAnswered)
        record.stretchStart = try count(.stretchStart)
        record.failure = try failure()
        record.file = try file(.fileName, .fileDevice, .fileInode)
        record.remote = try remote()
        record.segments = try segments()
        record.intent = try intent()
        record.move = try move()
        record.integrity = try name(.integrity)
        record.finishedAt = try optional(.finishedAt).map { WallTime(microseconds: $0) }
        record.listedTasks = try listedTasks()
        return record
    }

    private func request() throws(StoreFailure) -> TaskRequest {
        var request = TaskRequest(url: try value(.url), directory: try value(.directory))
        if let text: String = try optional(.headers) {
            guard let fields = HeaderText.fields(of: text) else { throw corrupt(.headers) }
            request.headers = fields
        }
        guard let onExisting: OnExisting = try name(.onExisting) else { throw corrupt(.onExisting) }
        request.onExisting = onExisting
        request.fileName = try optional(.wantedName)
        request.referrer = try optional(.referrer)
        request.userAgent = try optional(.userAgent)
        request.cookies = try optional(.cookies)
        request.isPrivate = try value(.isPrivate)
        request.connections = try connections()
        request.mirrors = (try optional(.mirrors)).map { MirrorText.mirrors(of: $0) } ?? []
        request.keptLogins = try name(.loginKey)
        request.checksum = try checksum(.checksum)
        request.expectedSize = try optional(.expectedSize)
        request.retryFor = try count(.retryFor)
        request.hasPieceHashes = try value(.hasPieceHashes)
        request.usesStoredLogins = try value(.usesStoredLogins)
        request.metalinkReach = try optional(.metalinkReach)
        request.whenDone = try name(.whenDone)
        request.owner = try optional(.owner)
        request.addedBy = try optional(.addedBy)
        return request
    }

    private func connections() throws(StoreFailure) -> Int? {
        guard let number: Int = try optional(.connections) else { return nil }
        let range = Setting.maxConnectionsPerDownload.range
        guard range?.contains(UInt64(clamping: number)) == true else { throw corrupt(.connections) }
        return number
    }

    private func checksum(_ column: TaskColumn) throws(StoreFailure) -> Checksum? {
        guard let text: String = try optional(column) else { return nil }
        do { return try Checksum(parsing: text) } catch { throw corrupt(column) }
    }

    private func state() throws(StoreFailure) -> TaskState {
        guard let kind: TaskState.Kind = try name(.state) else { throw corrupt(.state) }
        return switch kind {
        case .waiting: .waiting(try hold())
        case .downloading: .downloading
        case .paused: .paused
        case .completed: .completed
        case .failed: .failed
        case .cancelled: .cancelled
        }
    }

    private func hold() throws(StoreFailure) -> Hold {
        switch try value(.hold) as String {
        case "queue": .queue
        case "retry": .retry(at: WallTime(microseconds: try value(.retryAt)))
        case "offline": .offline
        case "metered": .metered
        case "battery": .battery
        case "space": .space
        case "settings": .settings
        default: throw corrupt(.hold)
        }
    }

    private func intent() throws(StoreFailure) -> Intent? {
        switch try optional(.intent) as String? {
        case nil: nil
        case "publish": .publish(name: try value(.intentName))
        case "discard": .discard
        case "remove": .remove
        default: throw corrupt(.intent)
        }
    }

    private func move() throws(StoreFailure) -> Move? {
        guard let kind = try optional(.moveKind) as String? else { return nil }
        let directory: String = try value(.moveDirectory)
        let file = try file(.moveName, .moveDevice, .moveInode)
        switch (kind, file) {
        case ("to", _):
            return .to(Move.Place(directory: directory, name: try value(.moveWish)), made: file)
        case ("copied", let file?):
            return .copied(Move.Place(directory: directory, name: try value(.moveWish)), file)
        case ("from", let file?): return .from(directory: directory, file)
        default: throw corrupt(.moveKind)
        }
    }

    private func failure() throws(StoreFailure) -> Failure? {
        guard let code: FailureCode = try name(.failureCode) else { return nil }
        return Failure(
            code,
            try value(.failureMessage),
            isTransient: try value(.failureIsTransient),
            retryAfter: try optional(.failureRetryAfter).map { .microseconds($0 as Int64) },
            neededSpace: try optional(.failureNeededSpace)
        )
    }

    private func file(
        _ nameColumn: TaskColumn,
        _ device: TaskColumn,
        _ inode: TaskColumn
    ) throws(StoreFailure) -> LocalFile? {
        guard let name: String = try optional(nameColumn) else { return nil }
        return LocalFile(
            name: name,
            fileSystem: UInt64(bitPattern: try value(device)),
            mark: UInt64(bitPattern: try value(inode))
        )
    }

    private func remote() throws(StoreFailure) -> RemoteVersion {
        var remote = RemoteVersion(total: try optional(.total))
        remote.mimeType = try value(.mimeType)
        remote.servesRanges = try value(.servesRanges)
        remote.refusesRanges = try value(.refusesRanges)
        remote.dislikesIfRange = try value(.dislikesIfRange)
        remote.restsOnProof = try value(.restsOnProof)
        remote.needsProof = try value(.needsProof)
        remote.isFromElsewhere = try value(.isFromElsewhere)
        if let opaque: String = try optional(.entityTag) {
            remote.entityTag = EntityTag(opaque: opaque, isWeak: try value(.entityTagIsWeak))
        }
        if let field: String = try optional(.lastModified) {
            remote.lastModified = LastModified(
                field: field,
                isStrong: try value(.lastModifiedIsStrong)
            )
        }
        remote.checksum = try checksum(.remoteChecksum)
        return remote
    }

    private func listedTasks() throws(StoreFailure) -> [TaskID] {
        guard let bytes: Data = try optional(.listedTasks) else { return [] }
        guard let ids = TaskIDList.ids(Array(bytes)) else { throw corrupt(.listedTasks) }
        return ids
    }

    private func segments() throws(StoreFailure) -> SegmentMap {
        guard let bytes: Data = try optional(.segments), let map = SegmentMap(bytes: Array(bytes))
        else { throw corrupt(.segments) }
        return map
    }
}

// Typed access to columns.
extension TaskRow {
    /// The column's value; nil for NULL, a failure for another type.
    private func optional<Value: DatabaseValueConvertible>(
        _ column: TaskColumn
    ) throws(StoreFailure) -> Value? {
        let stored = stored(column)
        guard !stored.isNull else { return nil }
        guard let value = Value.fromDatabaseValue(stored) else { throw corrupt(column) }
        return value
    }

    /// The column's value; a failure for NULL and for another type.
    private func value<Value: DatabaseValueConvertible>(
        _ column: TaskColumn
    ) throws(StoreFailure) -> Value {
        guard let value: Value = try optional(column) else { throw corrupt(column) }
        return value
    }

    /// A number of bytes.
    private func count(_ column: TaskColumn) throws(StoreFailure) -> Int64 {
        let count: Int64 = try value(column)
        guard count >= 0 else { throw corrupt(column) }
        return count
    }

    /// An enumeration by its name; nil for NULL, a failure for an unknown one.
    private func name<Name: RawRepresentable<String>>(
        _ column: TaskColumn
    ) throws(StoreFailure) -> Name? {
        guard let raw: String = try optional(column) else { return nil }
        guard let name = Name(rawValue: raw) else { throw corrupt(column) }
        return name
    }

    /// Row's own conversions trap on a mismatch; those of DatabaseValue return nil.
    private func stored(_ column: TaskColumn) -> DatabaseValue {
        switch source {
        case .statement(let statement):
            DatabaseValue(sqliteStatement: statement, index: CInt(column.rawValue))
        case .row(let row): row[column.rawValue]
        }
    }

    private func corrupt(_ column: TaskColumn) -> StoreFailure {
        let id = Int64.fromDatabaseValue(stored(.id)) ?? 0
        return .corruptRecord(id: id, column: column.name)
    }
}
