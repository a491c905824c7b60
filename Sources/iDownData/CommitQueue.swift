// SPDX-License-Identifier: Apache-2.0

/// Changes that wait for a commit: all that arrive during one commit share the next one.
///
/// An entry holds one caller's change, and how to answer the caller.
package struct CommitQueue<Change: Sendable> {
    package struct Entry: Sendable {
        package let run: @Sendable (Transaction) throws -> Outcome
        package let replyTime: ReplyTime
        /// Whether it may use the last of the space, which is kept for the service's own changes and
        /// for those that free space.
        package var isVital: Bool { replyTime != .afterSignals }
        package let refuse: @Sendable (any Error) -> Void
        /// Whether it was refused before, for want of space.
        package fileprivate(set) var isRepeated = false

        /// Runs `body` in the shared transaction and gives its value to `answer`.
        package init<Value: Sendable>(
            replyTime: ReplyTime = .inOrder,
            answer: @escaping @Sendable (Result<Value, any Error>) -> Void,
            _ body: @escaping @Sendable (Transaction) throws -> (Value, [Change])
        ) {
            run = { transaction in
                let (value, changes) = try body(transaction)
                return Outcome(changes: changes) { answer(.success(value)) }
            }
            self.replyTime = replyTime
            refuse = { answer(.failure($0)) }
        }
    }

    /// The changes that an entry made, and the answer to its caller.
    package struct Outcome: Sendable {
        package let changes: [Change]
        /// Answers the caller; called when its time has come.
        package let reply: @Sendable () -> Void

        package init(changes: [Change], reply: @escaping @Sendable () -> Void) {
            self.changes = changes
            self.reply = reply
        }
    }

    /// When a caller is told that its change is durable.
    package enum ReplyTime: Sendable {
        /// Before the commit is announced, so that other callers' announcements delay no transfer.
        case first
        /// After the service has announced the caller's own changes.
        case inOrder
        /// After the signals of the change were sent; for clients.
        case afterSignals
        /// The same, for a client's change that frees more space than it takes.
        case afterSignalsFreeing
    }

    private var entries: [Entry] = []

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    package var count: Int { entries.count }

    package mutating func append(_ entry: Entry) { entries.append(entry) }

    /// Adds an entry that was refused once more, in front.
    package mutating func putBack(_ entry: Entry) {
        var entry = entry
        entry.isRepeated = true
        entries.insert(entry, at: 0)
    }

    /// Takes out all entries, or those with one time of the reply.
    package mutating func take(_ time: ReplyTime? = nil) -> [Entry] {
        let taken = entries.filter { time == nil || $0.replyTime == time }
        entries.removeAll { time == nil || $0.replyTime == time }
        return taken
    }
}
