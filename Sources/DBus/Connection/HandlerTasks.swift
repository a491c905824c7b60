// SPDX-License-Identifier: Apache-2.0

/// The calls that are being handled, each with its task and with whom to answer.
///
/// Whoever takes a call out answers it: so each is answered exactly once.
struct HandlerTasks {
    /// So many calls at once are a client gone wild.
    static let maximum = 65_536

    private struct Entry {
        /// Nil where no answer is wanted.
        let reply: ReplyAddress?
        /// Nil until the handler first suspends, and where the answer comes without a task.
        var task: Task<Void, Never>?
    }

    private var running: [Int: Entry] = [:]

    var isFull: Bool {
        running.count >= Self.maximum
    }

    mutating func begin(_ id: Int, reply: ReplyAddress?) {
        running[id] = Entry(reply: reply, task: nil)
    }

    /// A handler that never suspends has finished before its task is known.
    mutating func attach(_ task: Task<Void, Never>, to id: Int) {
        running[id]?.task = task
    }

    /// Takes the call out; nil where it wants no answer, or has had one.
    mutating func finish(_ id: Int) -> ReplyAddress? {
        running.removeValue(forKey: id)?.reply
    }

    /// Takes all calls out and cancels their handlers; those that still want an answer.
    mutating func cancelAll() -> [ReplyAddress] {
        defer { running = [:] }
        for entry in running.values { entry.task?.cancel() }
        return running.sorted { $0.key < $1.key }.compactMap(\.value.reply)
    }
}
