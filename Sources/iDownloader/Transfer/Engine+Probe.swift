// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import iDownState

extension Engine {
    /// Asks for a file as a download would, and takes none of it.
    ///
    /// - Parameters:
    ///   - request: what is asked for; nothing is looked for in its folder.
    ///   - task: a number that no task has.
    ///   - limit: the longest time; then it ends with `Network.Timeout`.
    /// - Returns: what the server says.
    /// - Throws: what a task would have failed of; `CancellationError` where the caller's Swift task
    ///   was cancelled.
    package func probe(
        _ request: TaskRequest,
        as task: TaskID,
        within limit: Duration
    ) async throws -> OfferedFile {
        let record = TaskRecord(id: task, request: request, createdAt: time.date)
        let journal = ProbeJournal()
        let transfer = start(TransferJob(record, holdsFirstAnswer: true), journal: journal)
        defer { forgetFindings(on: task) }
        let timer = Task { [time] in
            guard (try? await time.sleep(for: limit)) != nil else { return }
            journal.settle(
                .failure(
                    Failure(.networkTimeout, "The server did not answer within \(limit).")
                )
            )
            transfer.stop()
        }
        let result = await withTaskCancellationHandler {
            // Without it the connection would stay open behind the answer.
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

/// Takes the first answer, and wants nothing else.
private final class ProbeJournal: TransferJournal {
    private let settled = Mutex<Result<OfferedFile, any Error>?>(nil)

    var result: Result<OfferedFile, any Error> {
        settled.withLock { $0 }
            ?? .failure(Failure(.networkUnreachable, "The server was not asked. Try again later."))
    }

    /// The first word counts.
    func settle(_ result: Result<OfferedFile, any Error>) {
        settled.withLock { if $0 == nil { $0 = result } }
    }

    func answered(
        _ answer: OfferedFile,
        of task: TaskID,
        attempt: AttemptNumber
    ) async -> Bool {
        settle(.success(answer))
        return false
    }

    func record(
        _ event: TransferEvent,
        of task: TaskID,
        attempt: AttemptNumber
    ) async throws -> Bool {
        if case .held(.hostRests(let rest)) = event {
            let seconds = max(1, rest.components.seconds)
            settle(
                .failure(
                    Failure(.serverBusy, "The server asked not to be called for \(seconds) s.")
                )
            )
        }
        return false
    }

    func pieceHashes(of task: TaskID) async throws -> PieceHashes? { nil }

    func add(
        _ files: [ListedFile],
        leavingOut count: Int,
        listedBy task: TaskID,
        attempt: AttemptNumber
    ) async throws -> Bool { false }

    func transferEnded(_ task: TaskID, attempt: AttemptNumber, failure: Failure?) async {
        if let failure { settle(.failure(failure)) }
    }
}
