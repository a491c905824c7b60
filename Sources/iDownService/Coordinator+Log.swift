// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState

extension Coordinator {
    /// A change of more tasks than this is told of as a whole.
    static let mostLoggedChanges = 32

    /// Writes down what became of some tasks, a line each: which one, what, and why.
    ///
    /// Neither URL nor name: whoever may read the log need not know what is downloaded, and the
    /// id leads to both.
    func writeDown(_ changes: [Change]) {
        // A text for each of 100,000 would hold up everybody.
        if changes.count > Self.mostLoggedChanges {
            log.info("\(changes.count) tasks have changed at once")
            guard log.logLevel <= .debug else { return }
        }
        for move in changes.lazy.compactMap(\.move) {
            changes.count > Self.mostLoggedChanges ? log.debug("\(move)") : log.info("\(move)")
        }
    }
}

extension Change {
    /// What the log says of it; nil where the task stays in its state.
    var move: String? {
        let id = after.id
        if effects.contains(.announceRemoved) { return "task \(id): removed" }
        guard let before else { return "task \(id): added, \(after.state.kind.rawValue)" }
        guard before.state.kind != after.state.kind || before.state.holdName != after.state.holdName
        else { return nil }
        var text = "task \(id): \(before.state.logged) → \(after.state.logged)"
        // Told once, and not again when the next try comes near.
        let isNews = before.state == .downloading || before.failure != after.failure
        if isNews, after.state != .downloading, let failure = after.failure {
            text += ": \(failure.code.rawValue), \(failure.message)"
        }
        if after.state == .completed {
            text +=
                ", \(after.segments.byteCount) bytes, known by \(after.integrity?.rawValue ?? "")"
        }
        return text
    }
}

extension TaskState {
    /// The state, and what a task waits for in it.
    fileprivate var logged: String {
        kind.rawValue + (holdName.map { " (\($0))" } ?? "")
    }

    /// What a task waits for, beside its turn.
    fileprivate var holdName: String? {
        guard case .waiting(let hold) = self, hold != .queue else { return nil }
        return "\(hold)".prefix { $0 != "(" }.description
    }
}
