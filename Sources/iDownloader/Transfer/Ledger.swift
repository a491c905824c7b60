// SPDX-License-Identifier: Apache-2.0

import iDownState

/// The record of a task as one transfer writes it, and what that says now.
///
/// Belongs to its transfer's actor.
final class Ledger {
    /// The bytes that the record claims, and the version that it says they are of.
    private(set) var segments: SegmentMap
    private(set) var version: RemoteVersion
    /// What is recorded of the copy of the recorded file that stands in its place, once the copy is
    /// proven; nil where there is none, and where the record has taken it.
    var copy: LocalFile?
    private let job: TransferJob
    private let journal: any TransferJournal

    init(_ job: TransferJob, journal: any TransferJournal) {
        segments = job.segments
        version = job.remote
        self.job = job
        self.journal = journal
    }

    /// Has an event committed before the next step.
    func commit(_ event: TransferEvent) async throws(TransferEnd) {
        var event = event
        // The record takes the copy with the first claim.
        if let copy, case .checkpointed(let segments) = event {
            event = .opened(copy, version, keeping: segments)
        }
        let isWanted: Bool
        do {
            isWanted = try await journal.record(event, of: job.task, attempt: job.attempt)
        } catch {
            // The list itself cannot be written: nothing more is claimed, and it may pass.
            throw .failed(
                Failure(
                    .fileFailed,
                    "The list of downloads cannot be written. Check the disk of your home folder.",
                    isTransient: true
                )
            )
        }
        guard isWanted else { throw .superseded }
        switch event {
        case .opened(_, let version, let kept):
            segments = kept
            self.version = version
            copy = nil
        case .arrived(_, let version):
            segments = SegmentMap()
            self.version = version
        case .checkpointed(let segments): self.segments = segments
        case .listed, .publishing, .completed, .failed, .held: break
        }
    }

    /// Adds files that a metalink lists to the list of tasks; `count` more cannot be added.
    func add(_ files: [ListedFile], leavingOut count: Int) async throws(TransferEnd) {
        let isWanted: Bool
        do {
            isWanted = try await journal.add(
                files,
                leavingOut: count,
                listedBy: job.task,
                attempt: job.attempt
            )
        } catch let failure as Failure {
            throw .failed(failure)
        } catch {
            throw .failed(
                Failure(
                    .fileFailed,
                    "The files of the metalink could not be added. A later try may succeed.",
                    isTransient: true
                )
            )
        }
        guard isWanted else { throw .superseded }
    }

    /// Has the journal judge the first answer.
    func report(_ answer: OfferedFile) async throws(TransferEnd) {
        guard await journal.answered(answer, of: job.task, attempt: job.attempt) else {
            throw .superseded
        }
    }

    /// The hashes of the pieces of the file.
    func pieceHashes() async throws(TransferEnd) -> PieceHashes {
        guard let pieces = try? await journal.pieceHashes(of: job.task) else {
            throw .failed(
                Failure(.fileFailed, "The list of downloads cannot be read.", isTransient: true)
            )
        }
        return pieces
    }

    /// Has the end of the attempt recorded; nothing comes after it.
    func end(_ failure: Failure?) async {
        await journal.transferEnded(job.task, attempt: job.attempt, failure: failure)
    }
}
