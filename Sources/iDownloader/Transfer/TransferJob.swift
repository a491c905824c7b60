// SPDX-License-Identifier: Apache-2.0

package import iDownState

/// The task of a transfer, and which of the task's attempts the transfer is.
package struct TransferID: Hashable, Sendable {
    package let task: TaskID
    package let attempt: AttemptNumber
}

/// The task, as its transfer needs it at the start.
package struct TransferJob: Sendable {
    /// The task's record when the attempt begins, with the logins of its URLs.
    package private(set) var record: TaskRecord
    /// Whether the journal judges the first answer before anything of it is stored.
    package let holdsFirstAnswer: Bool

    package init(_ record: TaskRecord, holdsFirstAnswer: Bool = false) {
        self.record = record
        self.holdsFirstAnswer = holdsFirstAnswer
    }

    package var id: TransferID { TransferID(task: record.id, attempt: record.attempt) }
    package var task: TaskID { record.id }
    package var request: TaskRequest { record.request }
    /// Whether the attempt before this one failed, and the user has not asked for a new try since.
    package var hasFailed: Bool { record.failure != nil }

    /// The final name that an earlier attempt may have given the complete file; nil if none was
    /// tried.
    package var possibleName: String? {
        if case .publish(let name) = record.intent { name } else { nil }
    }

    /// Returns the job with the logins put back into its URLs.
    func with(_ logins: URLLogins) -> TransferJob {
        var job = self
        job.record.request = logins.restored(to: request)
        return job
    }
}

/// Commits the events of transfers.
package protocol TransferJournal: Sendable {
    /// Commits an event; durable when it returns.
    ///
    /// - Returns: false if the task has changed and the transfer is no longer wanted.
    /// - Throws: when the record could not be written; nothing has changed then.
    func record(_ event: TransferEvent, of transfer: TransferID) async throws -> Bool

    /// Judges the first answer that brings the file, if the job asks for that; the body waits
    /// meanwhile.
    ///
    /// - Returns: false if the transfer is not wanted; no byte of the file is on disk then.
    func answered(_ answer: OfferedFile, of transfer: TransferID) async -> Bool

    /// Returns the hashes of the pieces of a task's file; nil if there are none.
    func pieceHashes(of task: TaskID) async throws -> PieceHashes?

    /// Adds the files that a metalink lists, and records their tasks as the metalink's; both are
    /// durable when it returns. A file that an unfinished task stands for already is not added
    /// again.
    ///
    /// - Parameters:
    ///   - files: those that are to be added.
    ///   - count: how many more the metalink lists.
    ///   - transfer: the metalink's.
    /// - Returns: false where the metalink's task has moved on; nothing is added then.
    /// - Throws: when the list of tasks could not be written; nothing has changed then.
    func add(
        _ files: [ListedFile],
        leavingOut count: Int,
        listedBy transfer: TransferID
    ) async throws -> Bool

    /// The transfer holds neither a connection nor the file any more; nothing comes after this.
    ///
    /// - Parameters:
    ///   - transfer: the transfer.
    ///   - failure: why there is no file; nil where it is published, stopped or not wanted. The
    ///     journal sees to it that this is recorded, at once or later.
    func transferEnded(_ transfer: TransferID, failure: Failure?) async
}

extension TransferJournal {
    package func answered(_ answer: OfferedFile, of transfer: TransferID) async -> Bool { true }
}
