// SPDX-License-Identifier: Apache-2.0

/// Changes that wait to be committed: what gathers while one commit is under way shares the next.
///
/// Each entry is one caller's: what it changes, and how the caller hears of it.
package struct CommitQueue<Change: Sendable> {
    package struct Entry: Sendable {
        package let run: @Sendable (Transaction) throws -> Outcome
        package let turn: Turn
        package let refuse: @Sendable (any Error) -> Void

        /// Runs `body` in the shared transaction and gives its value to `answer`.
        package init<Value: Sendable>(
            turn: Turn = .inOrder,
            answer: @escaping @Sendable (Result<Value, any Error>) -> Void,
            _ body: @escaping @Sendable (Transaction) throws -> (Value, [Change])
        ) {
            run = { transaction in
                let (value, changes) = try body(transaction)
                return Outcome(changes: changes) { answer(.success(value)) }
            }
            self.turn = turn
            refuse = { answer(.failure($0)) }
        }
    }

    /// What an entry did.
    package struct Outcome: Sendable {
        package let changes: [Change]
        /// Answers the caller; called when its turn has come.
        package let reply: @Sendable () -> Void

        package init(changes: [Change], reply: @escaping @Sendable () -> Void) {
            self.changes = changes
            self.reply = reply
        }
    }

    /// When a caller hears that its change is durable.
    package enum Turn: Sendable {
        /// Before anybody is told of the commit: nobody else's news holds up a transfer.
        case first
        /// When the service has told of what belongs to it.
        case inOrder
        /// Not before its signals are on their way: a client.
        case afterSignals
    }

    private var entries: [Entry] = []

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    package var count: Int { entries.count }

    package mutating func append(_ entry: Entry) { entries.append(entry) }

    /// Takes out all entries, or those with one turn.
    package mutating func take(_ turn: Turn? = nil) -> [Entry] {
        let taken = entries.filter { turn == nil || $0.turn == turn }
        entries.removeAll { turn == nil || $0.turn == turn }
        return taken
    }
}
