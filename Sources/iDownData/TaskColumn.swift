// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import Synchronization
import iDownState

/// The columns of the table `task`, and the part of a record in each.
///
/// Text ends at its first U+0000: neither URLs, paths, header fields nor D-Bus strings have one.
enum TaskColumn: Int, CaseIterable {
    case id, state, hold, retryAt, intent, intentName, priority, speedLimit, attempt, startOrder
    case tries, stretchStart, createdAt, finishedAt, bytesOnDisk, total, integrity, urlHash
    case originHash, isLoopback, onExisting, connections, expectedSize, hasPieceHashes
    case usesStoredLogins, whenDone, fileDevice, fileInode
    case servesRanges, refusesRanges, dislikesIfRange, restsOnProof, needsProof
    case failureCode, failureIsTransient, failureRetryAfter, failureNeededSpace, entityTagIsWeak
    case lastModifiedIsStrong, lastModified, remoteChecksum, mimeType, fileName, wantedName
    case checksum, directory, segments, entityTag, failureMessage, owner, userAgent, url, referrer
    case headers, mirrors, loginKey, hasLogins, listedTasks, retryFor, waited, hostHasAnswered
    case metalinkReach, serial, cookies, isPrivate, addedBy
    case moveKind, moveDirectory, moveWish, moveName, moveDevice, moveInode, isFromElsewhere

    /// The columns that version 1 of the table did not have, with the SQL value of each for a task
    /// in an older table.
    static let olderValues: [TaskColumn: String] = [
        .loginKey: "NULL", .hasLogins: "0", .listedTasks: "NULL", .retryFor: "86400", .waited: "0",
        .hostHasAnswered: "0", .metalinkReach: "NULL", .serial: "1", .cookies: "NULL",
        .isPrivate: "0", .moveKind: "NULL", .moveDirectory: "NULL", .moveWish: "NULL",
        .moveName: "NULL", .moveDevice: "NULL", .moveInode: "NULL", .addedBy: "NULL",
        .isFromElsewhere: "0",
    ]

    /// The column's name in SQL.
    var name: String { Self.allNames[rawValue] }

    /// Made once, because asking an enumeration for the names of its cases is slow.
    private static let allNames = allCases.map { "\($0)" }

    /// Returns the value to store.
    ///
    /// Times and durations are microseconds; the numbers of files, unsigned in the system, keep
    /// their bits.
    ///
    /// - Parameters:
    ///   - record: the record.
    ///   - origin: the origin of the record's URL if the caller has it, because finding it costs
    ///     more than all other columns; nil finds it.
    /// - Returns: the value; nil for NULL.
    func value(of record: TaskRecord, _ origin: Origin? = nil) -> (any DatabaseValueConvertible)? {
        switch self {
        case .id: record.id.rawValue
        case .state: record.state.kind.rawValue
        case .hold: record.state.hold?.name
        case .retryAt: record.state.hold?.retryAt?.microseconds
        case .intent: record.intent?.name
        case .intentName: record.intent?.fileName
        case .priority: record.priority
        case .speedLimit: record.speedLimit
        case .attempt: record.attempt.rawValue
        case .startOrder: record.startOrder
        case .tries: record.tries
        case .stretchStart: record.stretchStart
        case .createdAt: record.createdAt.microseconds
        case .finishedAt: record.finishedAt?.microseconds
        case .bytesOnDisk: record.segments.byteCount
        case .total: record.remote.total
        case .integrity: record.integrity?.rawValue
        case .urlHash: URLHash.value(of: record.request.url)
        case .originHash: (origin ?? record.request.origin).map { URLHash.value(of: $0.text) } ?? 0
        case .isLoopback: (origin ?? record.request.origin)?.isLoopback ?? false
        case .onExisting: record.request.onExisting.rawValue
        case .connections: record.request.connections
        case .expectedSize: record.request.expectedSize
        case .hasPieceHashes: record.request.hasPieceHashes
        case .usesStoredLogins: record.request.usesStoredLogins
        case .whenDone: record.request.whenDone?.rawValue
        case .fileDevice: record.file.map { Int64(bitPattern: $0.fileSystem) }
        case .fileInode: record.file.map { Int64(bitPattern: $0.mark) }
        case .servesRanges: record.remote.servesRanges
        case .refusesRanges: record.remote.refusesRanges
        case .dislikesIfRange: record.remote.dislikesIfRange
        case .restsOnProof: record.remote.restsOnProof
        case .needsProof: record.remote.needsProof
        case .isFromElsewhere: record.remote.isFromElsewhere
        case .failureCode: record.failure?.code.rawValue
        case .failureIsTransient: record.failure?.isTransient
        case .failureRetryAfter: record.failure?.retryAfter?.wholeMicroseconds
        case .failureNeededSpace: record.failure?.neededSpace
        case .entityTagIsWeak: record.remote.entityTag?.isWeak
        case .lastModifiedIsStrong: record.remote.lastModified?.isStrong
        case .lastModified: record.remote.lastModified?.field
        case .remoteChecksum: record.remote.checksum?.description
        case .mimeType: record.remote.mimeType
        case .fileName: record.file?.name
        case .wantedName: record.request.fileName
        case .checksum: record.request.checksum?.description
        case .directory: record.request.directory
        case .segments: Data(record.segments.bytes)
        case .entityTag: record.remote.entityTag?.opaque
        case .failureMessage: record.failure?.message
        case .owner: record.request.owner
        case .userAgent: record.request.userAgent
        case .url: record.request.url
        case .referrer: record.request.referrer
        case .headers: HeaderText.text(of: record.request.headers)
        case .mirrors: MirrorText.text(of: record.request.mirrors)
        case .loginKey: record.request.keptLogins?.rawValue
        case .hasLogins: record.request.hasLogins
        case .listedTasks:
            record.listedTasks.isEmpty ? nil : Data(TaskIDList.bytes(record.listedTasks))
        case .retryFor: record.request.retryFor
        case .waited: record.waited.wholeMicroseconds
        case .hostHasAnswered: record.hostHasAnswered
        case .metalinkReach: record.request.metalinkReach
        case .serial: record.serial
        case .cookies: record.request.cookies
        case .isPrivate: record.request.isPrivate
        case .moveKind: record.move?.name
        case .moveDirectory: record.move?.directory
        case .moveWish: record.destination?.name
        case .moveName: record.move?.file?.name
        case .moveDevice: record.move?.file.map { Int64(bitPattern: $0.fileSystem) }
        case .moveInode: record.move?.file.map { Int64(bitPattern: $0.mark) }
        case .addedBy: record.request.addedBy
        }
    }

    fileprivate func stored(_ record: TaskRecord, _ origin: Origin? = nil) -> DatabaseValue {
        value(of: record, origin)?.databaseValue ?? .null
    }

    static let select = "SELECT \(allNames.joined(separator: ", ")) FROM task"

    /// Makes the same statement for a table that may be older.
    ///
    /// - Parameter exists: whether the table has a column that was added after version 1.
    /// - Returns: the statement; where a column is missing it selects the value that the column has
    ///   in a table that was brought up to date.
    static func select(whereColumn exists: (TaskColumn) -> Bool) -> String {
        let columns = allCases.map { column in
            guard let older = olderValues[column], !exists(column) else { return column.name }
            return older
        }
        return "SELECT \(columns.joined(separator: ", ")) FROM task"
    }

    /// The same columns where another table has an `id` too.
    static let selectJoined = "SELECT \(allNames.map { "task.\($0)" }.joined(separator: ", "))"
    static let selectOne = select + " WHERE id = ?"
    /// Selects the tasks of one commit that come after one of them.
    ///
    /// One statement for these and for ``selectChangedAfter`` would read all tasks of the commit
    /// anew for each page, and they may be the whole list.
    static let selectChangedWith =
        select + " WHERE serial = ? AND id > ? AND intent IS NOT 'remove' ORDER BY id"
    /// Selects the tasks of later commits, in the order of the commits.
    static let selectChangedAfter =
        select + " WHERE serial > ? AND intent IS NOT 'remove' ORDER BY serial, id"
    static let selectInOrder = select + " ORDER BY id"
    static let selectInState = select + " WHERE state = ? AND intent IS NOT 'remove' ORDER BY id"

    /// The statement that stores a new record, and its arguments.
    ///
    /// Most tasks are added with a URL, a folder and perhaps a name alone: then only these are bound,
    /// and the values of an empty record stand in the statement.
    static func insert(_ record: TaskRecord) -> (sql: String, StatementArguments) {
        let origin = record.request.origin
        let isPlain = partsBesidePlain.allSatisfy { part in
            part.isEqual(record, empty)
                || part.columns.allSatisfy { column in
                    column.stored(record, origin) == emptyValues[column.rawValue]
                }
        }
        let columns = isPlain ? plain : allCases
        return (
            isPlain ? insertPlain : insertAll,
            StatementArguments(columns.map { $0.value(of: record, origin) })
        )
    }

    /// An empty task, to compare with.
    private static let empty: TaskRecord = {
        guard let id = TaskID(rawValue: 1) else { preconditionFailure("an id is positive") }
        return TaskRecord(
            id: id,
            request: TaskRequest(url: "", directory: ""),
            createdAt: WallTime(microseconds: 0)
        )
    }()
    private static let emptyValues = allCases.map { $0.stored(empty) }
    /// The columns in which tasks differ that were added with a URL, a folder and a name.
    private static let plain: [TaskColumn] = [
        .id, .state, .hold, .priority, .createdAt, .urlHash, .originHash, .isLoopback, .wantedName,
        .directory, .url, .serial, .addedBy,
    ]
    /// The parts without the columns of ``plain``: they are empty in most new tasks.
    private static let partsBesidePlain: [Part] = parts.compactMap { part in
        let columns = part.columns.filter { !plain.contains($0) }
        return columns.isEmpty ? nil : Part(columns: columns, isEqual: part.isEqual)
    }
    private static let insertAll = insert(binding: allCases)
    private static let insertPlain = insert(binding: plain)

    private static func insert(binding bound: [TaskColumn]) -> String {
        let values = allCases.map { column in
            bound.contains(column) ? "?" : literal(emptyValues[column.rawValue])
        }
        return """
            INSERT OR FAIL INTO task (\(allNames.joined(separator: ", ")))
            VALUES (\(values.joined(separator: ", ")))
            """
    }

    /// A value of an empty record in SQL: its texts need no escapes, and it has no ranges.
    private static func literal(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "NULL"
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .string(let text): "'\(text)'"
        case .blob: "x''"
        }
    }

    /// The beginning of the statement that sets some columns, and whether connections keep it
    /// prepared.
    ///
    /// Unchanged columns are left out, because SQLite updates the indexes of every column that it
    /// sets, even to an equal value. Only the first statements are kept: an update of columns that
    /// were seldom changed together is made anew each time, or clients that edit in thousands of
    /// ways would make the service grow.
    static func updateStatement(_ columns: [TaskColumn]) -> (sql: String, isKept: Bool) {
        updateStatements.withLock { known in
            if let sql = known[columns] { return (sql, true) }
            let sql =
                "UPDATE OR FAIL task SET "
                + columns.map { "\($0.name) = ?" }.joined(separator: ", ")
            let isKept = known.count < mostKept
            if isKept { known[columns] = sql }
            return (sql, isKept)
        }
    }

    /// The most statements that are kept: many more than changes of states need.
    static let mostKept = 200
    private static let updateStatements = Mutex<[[TaskColumn]: String]>([:])
}

/// The columns in which a record differs from what it was, with their new values.
struct Difference: Equatable {
    private(set) var columns: [TaskColumn] = []
    private(set) var values: [DatabaseValue] = []

    /// Compares two states of a record; nil where they are equal.
    init?(_ record: TaskRecord, from before: TaskRecord) {
        for part in TaskColumn.parts where !part.isEqual(record, before) {
            for column in part.columns {
                let value = column.stored(record)
                guard value != column.stored(before) else { continue }
                columns.append(column)
                values.append(value)
            }
        }
        guard !columns.isEmpty else { return nil }
    }
}

// Parts of a record that are compared as a whole.
extension TaskColumn {
    /// Columns that stay as they are where a part of the record does.
    fileprivate struct Part: Sendable {
        let columns: [TaskColumn]
        let isEqual: @Sendable (TaskRecord, TaskRecord) -> Bool
    }

    fileprivate static let parts: [Part] = {
        var parts = [
            Part(columns: [.state, .hold, .retryAt]) { $0.state == $1.state },
            Part(columns: [.intent, .intentName]) { $0.intent == $1.intent },
            Part(columns: ofMove) { $0.move == $1.move },
            Part(columns: [.segments, .bytesOnDisk]) { $0.segments == $1.segments },
            Part(columns: [.fileDevice, .fileInode, .fileName]) { $0.file == $1.file },
            Part(columns: ofFailure) { $0.failure == $1.failure },
            Part(columns: ofRemote) { $0.remote == $1.remote },
            Part(columns: ofRequest) { $0.request == $1.request },
            Part(columns: [.listedTasks]) { $0.listedTasks == $1.listedTasks },
        ]
        let named = Set(parts.flatMap(\.columns))
        let others = allCases.filter { $0 != .id && !named.contains($0) }
        parts.append(Part(columns: others) { _, _ in false })
        return parts
    }()

    private static let ofFailure: [TaskColumn] = [
        .failureCode, .failureIsTransient, .failureRetryAfter, .failureNeededSpace, .failureMessage,
    ]
    private static let ofMove: [TaskColumn] = [
        .moveKind, .moveDirectory, .moveWish, .moveName, .moveDevice, .moveInode,
    ]
    private static let ofRemote: [TaskColumn] = [
        .total, .servesRanges, .refusesRanges, .dislikesIfRange, .restsOnProof, .needsProof,
        .isFromElsewhere, .entityTag, .entityTagIsWeak, .lastModified, .lastModifiedIsStrong,
        .remoteChecksum, .mimeType,
    ]
    private static let ofRequest: [TaskColumn] = [
        .urlHash, .originHash, .isLoopback, .onExisting, .connections, .expectedSize,
        .hasPieceHashes, .usesStoredLogins, .whenDone, .wantedName, .checksum, .directory, .owner,
        .userAgent, .url, .referrer, .headers, .mirrors, .loginKey, .hasLogins, .retryFor,
        .metalinkReach, .cookies, .isPrivate, .addedBy,
    ]
}

extension Intent {
    fileprivate var name: String {
        switch self {
        case .publish: "publish"
        case .discard: "discard"
        case .remove: "remove"
        }
    }

    fileprivate var fileName: String? {
        switch self {
        case .publish(let name): name
        case .discard, .remove: nil
        }
    }
}

extension Move {
    fileprivate var name: String {
        switch self {
        case .to: "to"
        case .copied: "copied"
        case .from: "from"
        }
    }

    /// The folder of the move that is not the record's own.
    fileprivate var directory: String {
        switch self {
        case .to(let place, _), .copied(let place, _): place.directory
        case .from(let directory, _): directory
        }
    }

    /// The file of the move that is not the record's own.
    fileprivate var file: LocalFile? {
        switch self {
        case .to(_, let made): made
        case .copied(_, let file), .from(_, let file): file
        }
    }
}
