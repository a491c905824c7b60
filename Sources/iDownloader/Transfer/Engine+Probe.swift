// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import iDownState

extension Engine {
    /// Asks a server for a file as a download would, and drops the body.
    ///
    /// - Parameters:
    ///   - request: the request; its folder does not matter.
    ///   - task: a number that no task has.
    ///   - limit: the longest time, after which the probe ends with `Network.Timeout`.
    /// - Returns: the file as the server describes it.
    /// - Throws: the `Failure` that a task would have; `CancellationError` if the caller's Swift
    ///   task was cancelled.
    package func probe(
        _ request: TaskRequest,
        as task: TaskID,
        within limit: Duration
    ) async throws -> OfferedFile {
        var request = request
        // Nothing is written, so that no disk that hangs holds the answer up.
        request.directory = ""
        let record = TaskRecord(id: task, request: request, createdAt: time.date)
        let journal = ProbeJournal()
        let transfer = start(TransferJob(record, holdsFirstAnswer: true), journal: journal)
        defer { forgetFindings(on: task) }
        let timer = Task { [time] in
            guard (try? await time.sleep(for: limit)) != nil else { return }
            let text = "The server did not answer within \(limit)."
            journal.settle(.failure(Failure(.networkTimeout, text)))
            transfer.stop()
        }
        let result = await withTaskCancellationHandler {
            // Otherwise the connection would stay open after the answer.
            await transfer.ended()
            return journal.result
        } onCancel: {
            journal.settle(.failure(CancellationError()))
            transfer.stop()
        }
        timer.cancel()
        return try result.get()
    }
}

/// A journal that takes the first answer and then stops the attempt.
private final class ProbeJournal: TransferJournal {
    private let settled = Mutex<Result<OfferedFile, any Error>?>(nil)

    var result: Result<OfferedFile, any Error> {
        settled.withLock { $0 }
            ?? .failure(Failure(.networkUnreachable, "The server was not asked. Try again later."))
    }

    /// Settles the probe; only the first call counts.
    func settle(_ result: Result<OfferedFile, any Error>) {
        settled.withLock { if $0 == nil { $0 = result } }
    }

    func answered(_ answer: OfferedFile, of transfer: TransferID) async -> Bool {
        settle(.success(answer))
        return false
    }

    func record(_ event: TransferEvent, of transfer: TransferID) async throws -> Bool {
        if case .held(.hostRests(let rest)) = event {
            let text = "The server is busy, or asks for a pause, for \(rest.roundedUp)."
            settle(.failure(Failure(.serverBusy, text)))
        }
        return false
    }

    func pieceHashes(of task: TaskID) async throws -> PieceHashes? { nil }

    func add(
        _ files: [ListedFile],
        leavingOut count: Int,
        listedBy transfer: TransferID
    ) async throws -> Bool { false }

    func transferEnded(_ transfer: TransferID, failure: Failure?) async {
        if let failure { settle(.failure(failure)) }
    }
}
