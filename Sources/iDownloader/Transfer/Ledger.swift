// SPDX-License-Identifier: Apache-2.0

import iDownState

/// Writes a task's record for one transfer, and knows what the record says.
///
/// Belongs to its transfer's actor.
final class Ledger {
    /// The ranges that the record claims, and the version of their bytes.
    private(set) var segments: SegmentMap
    private(set) var version: RemoteVersion
    /// The copy that stands in the place of the recorded file, after a restored backup; the record
    /// takes it with the next claim.
    ///
    /// Nil if there is none.
    var copy: LocalFile?
    private let job: TransferJob
    private let journal: any TransferJournal

    init(_ job: TransferJob, journal: any TransferJournal) {
        segments = job.record.segments
        version = job.record.remote
        self.job = job
        self.journal = journal
    }

    /// Commits an event; returns once it is durable.
    func commit(_ event: TransferEvent) async throws(TransferEnd) {
        var event = event
        // The first claim of bytes makes the copy the recorded file.
        if let copy, case .checkpointed(let segments) = event {
            event = .opened(copy, version, keeping: segments)
        }
        let isWanted: Bool
        do {
            isWanted = try await journal.record(event, of: job.id)
        } catch {
            // The list cannot be written now. Nothing more is claimed, and a later try may succeed.
            let text =
                "The list of downloads cannot be written. Check the disk of your home folder."
            throw .failed(Failure(.fileFailed, text, isTransient: true))
        }
        guard isWanted else { throw .stopped }
        switch event {
        case .opened(_, let version, let kept):
            segments = kept
            self.version = version
            copy = nil
        case .arrived(_, let version):
            segments = SegmentMap()
            self.version = version
        case .checkpointed(let segments): self.segments = segments
        case .answered, .listed, .publishing, .completed, .failed, .held: break
        }
    }

    /// Adds files that a metalink lists as tasks; `count` further files cannot be added.
    func add(_ files: [ListedFile], leavingOut count: Int) async throws(TransferEnd) {
        let isWanted: Bool
        do {
            isWanted = try await journal.add(files, leavingOut: count, listedBy: job.id)
        } catch let failure as Failure {
            throw .failed(failure)
        } catch {
            let text = "The files of the metalink could not be added."
            throw .failed(.transient(.fileFailed, text))
        }
        guard isWanted else { throw .stopped }
    }

    /// Lets the journal judge the first answer.
    func report(_ answer: OfferedFile) async throws(TransferEnd) {
        guard await journal.answered(answer, of: job.id) else { throw .stopped }
    }

    /// Returns the hashes of the file's pieces.
    func pieceHashes() async throws(TransferEnd) -> PieceHashes {
        guard let pieces = try? await journal.pieceHashes(of: job.task) else {
            let text = "The list of downloads cannot be read."
            throw .failed(Failure(.fileFailed, text, isTransient: true))
        }
        return pieces
    }

    /// Records the end of the attempt; the last call.
    func end(_ failure: Failure?) async { await journal.transferEnded(job.id, failure: failure) }
}
