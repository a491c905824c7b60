// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

/// The values that the machine's tests are written in: a file of 8 MiB, half of it on disk.
enum Sample {
    static let now = WallTime(microseconds: 1_700_000_000_000_000)
    static let total: Int64 = 8 << 20
    static let half: Int64 = 4 << 20
    static let name = "file.iso"
    static let otherName = "file (1).iso"

    static let file = LocalFile(name: name, fileSystem: 1, mark: 2)
    static let otherFile = LocalFile(name: otherName, fileSystem: 1, mark: 3)
    static let remote = RemoteVersion(
        total: total,
        entityTag: EntityTag(opaque: "\"a\"", isWeak: false),
        servesRanges: true
    )
    static let otherRemote = RemoteVersion(
        total: total,
        entityTag: EntityTag(opaque: "\"b\"", isWeak: false),
        servesRanges: true
    )

    /// The versions as answers with a type tell them.
    static let offer = typed(remote)
    static let otherOffer = typed(otherRemote)

    private static func typed(_ version: RemoteVersion) -> RemoteVersion {
        var version = version
        version.mimeType = "application/octet-stream"
        return version
    }

    /// The task of the one file that the sample lists where it is a metalink.
    static let listedTasks = [8].compactMap { TaskID(rawValue: $0) }

    /// The number of the sample's latest transfer, and of those around it.
    static let attempt = AttemptNumber(rawValue: 3)
    static let olderAttempt = AttemptNumber(rawValue: 2)

    static let deadline = now.advanced(by: .seconds(10))
    static let reset = Failure(.networkReset, "the connection was cut", isTransient: true)
    static let missing = Failure.status(404)
    static let mismatch = Failure(.checksumMismatch, "the digest is another")
    static let vanished = Failure(.fileVanished, "the partial file is gone")

    static let unsynced = Failure(.fileFailed, "fsync: Input/output error")

    static let full = Failure(.fileNoSpace, "the disk is full", neededSpace: half)
    static let noName = Failure(.networkDNS, "no address", isTransient: true)

    /// The file's first bytes, as many as given.
    static func first(_ count: Int64) -> SegmentMap {
        SegmentMap([ByteRange(first: 0, length: count)].compactMap(\.self))
    }

    static let url = "https://host/file.iso"

    /// A task that was just added.
    static func record() throws -> TaskRecord {
        TaskRecord(
            id: try #require(TaskID(rawValue: 7)),
            request: TaskRequest(url: url, directory: "/home/u/Downloads"),
            createdAt: WallTime(microseconds: 1)
        )
    }
}

extension TaskRecord {
    /// Gives the task a fresh link.
    mutating func setURL(_ url: String, isSameOrigin: Bool) throws(Refusal) -> [Effect] {
        var edit = TaskEdit()
        edit.url = url
        return try self.edit(edit, isSameOrigin: isSameOrigin)
    }
}
