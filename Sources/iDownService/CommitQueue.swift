// SPDX-License-Identifier: Apache-2.0

import Synchronization
import iDownData
import iDownState

/// Changes that wait to be committed: what arrives together shares one commit.
struct CommitQueue {
    /// One caller's change: what it does, and how the caller hears of it.
    struct Entry: Sendable {
        let run: @Sendable (Transaction) throws -> Outcome
        let turn: Turn
        let refuse: @Sendable (any Error) -> Void
    }

    /// What an entry did.
    struct Outcome: Sendable {
        let changes: [Change]
        /// Answers the caller; called when its turn has come.
        let reply: @Sendable () -> Void
    }

    /// When a caller hears that its change is durable.
    enum Turn {
        /// Before anybody is told of the commit: nobody else's news holds up a transfer.
        case first
        /// When the coordinator has carried out what belongs to it.
        case inOrder
        /// Not before its signals are on their way: a client.
        case afterSignals
    }

    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    mutating func takeAll() -> [Entry] {
        defer { entries = [] }
        return entries
    }
}

extension CommitQueue.Entry {
    /// Runs `body` in the shared transaction and gives its value to `answer`.
    init<Value: Sendable>(
        turn: CommitQueue.Turn = .inOrder,
        answer: @escaping @Sendable (Result<Value, any Error>) -> Void,
        _ body: @escaping @Sendable (Transaction) throws -> (Value, [Change])
    ) {
        run = { transaction in
            let (value, changes) = try body(transaction)
            return CommitQueue.Outcome(changes: changes) { answer(.success(value)) }
        }
        self.turn = turn
        refuse = { answer(.failure($0)) }
    }
}
