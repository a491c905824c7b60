// SPDX-License-Identifier: Apache-2.0

import Synchronization
import iDownData
import iDownState

/// Changes that wait to be committed: what arrives together shares one commit.
struct CommitQueue {
    /// One caller's change: what it does, and how the caller hears of it.
    struct Entry: Sendable {
        let run: @Sendable (Transaction) throws -> Outcome
        /// Whether the caller hears of it only after everybody else has.
        let awaitsTelling: Bool
        let refuse: @Sendable (any Error) -> Void
    }

    /// What an entry did.
    struct Outcome: Sendable {
        let changes: [Change]
        /// Answers the caller; called after the changes are announced, as far as the bus takes them.
        let reply: @Sendable () -> Void
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
        awaitsTelling: Bool = false,
        answer: @escaping @Sendable (Result<Value, any Error>) -> Void,
        _ body: @escaping @Sendable (Transaction) throws -> (Value, [Change])
    ) {
        run = { transaction in
            let (value, changes) = try body(transaction)
            return CommitQueue.Outcome(changes: changes) { answer(.success(value)) }
        }
        self.awaitsTelling = awaitsTelling
        refuse = { answer(.failure($0)) }
    }
}
