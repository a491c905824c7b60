// SPDX-License-Identifier: Apache-2.0

package import iDownState

/// All that a transfer needs to know of its task when it starts.
package struct TransferJob: Sendable {
    package let task: TaskID
    package let attempt: AttemptNumber
    package private(set) var request: TaskRequest
    /// The partial file of an earlier attempt, if there is one.
    package let file: LocalFile?
    /// The name that an earlier attempt may have given the file, which is complete then.
    package let possibleName: String?
    /// The version that `segments` belong to.
    package let remote: RemoteVersion
    /// The bytes that are on disk and synced.
    package let segments: SegmentMap
    /// Bytes a second; 0 for no limit.
    package let speedLimit: Int64
    /// The attempt before it has failed, and nobody has asked for another since.
    package let hasFailed: Bool
    /// Whether the journal judges the first answer before anything of it is stored.
    package let holdsFirstAnswer: Bool

    package init(_ record: TaskRecord, holdsFirstAnswer: Bool = false) {
        self.holdsFirstAnswer = holdsFirstAnswer
        task = record.id
        attempt = record.attempt
        request = record.request
        file = record.file
        possibleName = if case .publish(let name) = record.intent { name } else { nil }
        remote = record.remote
        segments = record.segments
        speedLimit = record.speedLimit
        hasFailed = record.failure != nil
    }

    /// The same with the logins of its URLs in their places.
    func with(_ logins: URLLogins) -> TransferJob {
        var job = self
        job.request = logins.restored(to: request)
        return job
    }
}

/// Where a transfer has its events committed.
package protocol TransferJournal: Sendable {
    /// Commits an event; durable when it returns.
    ///
    /// - Returns: false where the task has moved on and the transfer is no longer wanted.
    /// - Throws: when the record could not be written; nothing has changed then.
    func record(
        _ event: TransferEvent,
        of task: TaskID,
        attempt: AttemptNumber
    ) async throws -> Bool

    /// Judges the first answer that brings the file, if the job says so; the body waits meanwhile.
    ///
    /// - Returns: false where the transfer is not wanted: nothing of the file is on disk then.
    func answered(_ answer: OfferedFile, of task: TaskID, attempt: AttemptNumber) async -> Bool

    /// The hashes of the pieces of a task's file; nil where none are kept.
    func pieceHashes(of task: TaskID) async throws -> PieceHashes?

    /// Adds the files that a metalink lists, and records their tasks as the metalink's; both are
    /// durable when it returns. A file that an unfinished task stands for already is not added again.
    ///
    /// - Parameters:
    ///   - files: those that are to be added.
    ///   - count: how many more the metalink lists.
    ///   - task: the metalink's.
    ///   - attempt: the number of its transfer.
    /// - Returns: false where the metalink's task has moved on; nothing is added then.
    /// - Throws: when the list of tasks could not be written; nothing has changed then.
    func add(
        _ files: [ListedFile],
        leavingOut count: Int,
        listedBy task: TaskID,
        attempt: AttemptNumber
    ) async throws -> Bool

    /// The transfer holds neither a connection nor the file any more; nothing comes after this.
    ///
    /// - Parameters:
    ///   - task: whose transfer it was.
    ///   - attempt: its number.
    ///   - failure: why there is no file; nil where it is published, stopped or not wanted. The
    ///     journal sees to it that this is recorded, at once or later.
    func transferEnded(_ task: TaskID, attempt: AttemptNumber, failure: Failure?) async
}

extension TransferJournal {
    package func answered(
        _ answer: OfferedFile,
        of task: TaskID,
        attempt: AttemptNumber
    ) async -> Bool { true }
}
