// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import iDownState

/// The columns of the table `task`, and what of a record stands in each.
///
/// Text ends at its first U+0000: neither URLs, paths, header fields nor D-Bus strings have one.
enum TaskColumn: Int, CaseIterable {
    case id, state, hold, retryAt, intent, intentName, priority, speedLimit, attempt, startOrder
    case tries, stretchStart, createdAt, finishedAt, bytesOnDisk, total, integrity, urlHash
    case onExisting, connections, expectedSize, usesStoredLogins, fileDevice, fileInode
    case servesRanges, refusesRanges, dislikesIfRange, restsOnProof, needsProof
    case failureCode, failureIsTransient, failureRetryAfter, entityTagIsWeak
    case lastModifiedIsStrong, lastModified, remoteChecksum, mimeType, fileName, wantedName
    case checksum, directory, segments, entityTag, failureMessage, owner, userAgent, url, referrer
    case headers, mirrors

    var name: String { "\(self)" }

    /// The value to store.
    ///
    /// Times and durations are microseconds; device and inode, unsigned in the system, keep
    /// their bits.
    func value(of record: TaskRecord) -> (any DatabaseValueConvertible)? {
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
        case .onExisting: record.request.onExisting.rawValue
        case .connections: record.request.connections
        case .expectedSize: record.request.expectedSize
        case .usesStoredLogins: record.request.usesStoredLogins
        case .fileDevice: record.file.map { Int64(bitPattern: $0.device) }
        case .fileInode: record.file.map { Int64(bitPattern: $0.inode) }
        case .servesRanges: record.remote.servesRanges
        case .refusesRanges: record.remote.refusesRanges
        case .dislikesIfRange: record.remote.dislikesIfRange
        case .restsOnProof: record.remote.restsOnProof
        case .needsProof: record.remote.needsProof
        case .failureCode: record.failure?.code.rawValue
        case .failureIsTransient: record.failure?.isTransient
        case .failureRetryAfter: record.failure?.retryAfter?.wholeMicroseconds
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
        }
    }

    static func values(of record: TaskRecord) -> StatementArguments {
        StatementArguments(allCases.map { $0.value(of: record) })
    }

    private static let names = allCases.map(\.name)

    static let select = "SELECT \(names.joined(separator: ", ")) FROM task"
    static let selectOne = select + " WHERE id = ?"
    static let selectInOrder = select + " WHERE id > ? ORDER BY id"

    static let insert = """
        INSERT INTO task (\(names.joined(separator: ", ")))
        VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
        """

    /// Takes all columns in their order; the first is the id, `?1`.
    static let update = """
        UPDATE task SET \(names.enumerated().dropFirst().map { "\($1) = ?\($0 + 1)" }
            .joined(separator: ", "))
        WHERE id = ?1
        """
}

extension TaskState {
    /// Why it waits; nil where it does not.
    fileprivate var hold: Hold? {
        guard case .waiting(let hold) = self else { return nil }
        return hold
    }
}

extension Hold {
    fileprivate var name: String {
        switch self {
        case .queue: "queue"
        case .retry: "retry"
        case .offline: "offline"
        case .space: "space"
        }
    }

    fileprivate var retryAt: WallTime? {
        switch self {
        case .queue, .offline, .space: nil
        case .retry(let time): time
        }
    }
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
