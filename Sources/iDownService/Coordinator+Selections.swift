// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
package import iDownState
import iDownloader

// Verbs for many tasks at once, in one commit where that is possible.
extension Coordinator {
    /// Carries out a verb on all tasks in some states.
    ///
    /// - Returns: how many tasks it changed.
    package func carryOut(
        _ command: Command,
        onAllIn states: Set<TaskState.Kind>
    ) async throws -> Int {
        try refuseWhileStopping()
        let stuck = slots.stuckTasks
        let outcome = try await commit(answering: command.replyTime) { transaction in
            var publishing: [TaskID] = []
            let changes = try transaction.changeAll(in: states) { id, refusal in
                // A task with another refusal is being removed at this moment.
                if refusal == .publishing { publishing.append(id) }
            } _: {
                try $0.apply(command, onStuckDisk: stuck.contains($0.id))
            }
            let stopped = changes.filter { $0.before?.state == .downloading }.map(\.after.id)
            return ((count: changes.count, stopped: stopped, publishing: publishing), changes)
        }
        await finish(command, on: outcome.stopped)
        guard !outcome.publishing.isEmpty else { return outcome.count }
        // Most of these are completed soon. But an attempt that has just begun first checks what an
        // earlier one left, and goes on downloading if that was no complete file.
        do {
            let rest = try await carryOut(command, on: outcome.publishing, isRest: true)
            return outcome.count + rest.changed
        } catch  where outcome.count > 0 {
            log.warning("some tasks could not be changed with the others: \(error)")
            return outcome.count
        }
    }

    /// Carries out a verb on a selection, and passes over tasks that cannot take it.
    ///
    /// - Returns: how many tasks it changed.
    /// - Throws: `ServiceRefusal.noSuchTask` if a task does not exist; nothing has changed then.
    package func carryOut(_ command: Command, on ids: [TaskID]) async throws -> Int {
        try await carryOut(command, on: ids, isRest: false).changed
    }

    /// Carries out a verb on a selection, or on the rest of one that has changed in part.
    ///
    /// - Parameters:
    ///   - command: The verb.
    ///   - ids: The selection.
    ///   - isRest: Whether these are what is left of more tasks: those that are gone are passed over.
    ///   - meant: The finished tasks that are meant, the others are spared; nil for all.
    /// - Returns: how many tasks it changed, and the finished ones that it spared.
    /// - Throws: what ``carryOut(_:on:)`` throws.
    func carryOut(
        _ command: Command,
        on ids: [TaskID],
        isRest: Bool,
        sparingFinishedBut meant: Set<TaskID>? = nil
    ) async throws -> (changed: Int, spared: [TaskID]) {
        var hangs = false
        // Wait for files that are just getting their names, but only for a short time.
        for round in 0..<3 {
            // Tasks whose files are in the trash already leave the list even during a stop.
            if meant == nil { try refuseWhileStopping() }
            let mayPassOver = round == 2 || hangs
            let time = meant == nil ? command.replyTime : .inOrder
            let stuck = slots.stuckTasks
            let outcome = try await commit(answering: time) { transaction in
                try transaction.select(
                    ids,
                    for: command,
                    meant,
                    stuck,
                    isRest: isRest,
                    mayPassOver: mayPassOver
                )
            }
            guard !outcome.publishing.isEmpty else {
                await finish(command, on: outcome.changed)
                return (outcome.changed.count, outcome.spared)
            }
            for id in outcome.publishing where !hangs {
                hangs = await publications.end(of: id, in: self) == .hangs
            }
            if !hangs { hangs = await !publications.settle(Set(outcome.publishing), in: self) }
        }
        return (0, [])
    }

    /// Waits for the work that a verb causes beside the record, before its caller is answered.
    func finish(_ command: Command, on ids: [TaskID]) async {
        switch command {
        // The file is deleted before the caller is answered, unless its disk hangs.
        case .remove, .cancel:
            for id in ids { guard await deletions.end(of: id, in: self) else { return } }
        // The kept bytes are recorded before the caller is answered. All tasks share one time
        // limit, because disks may hang.
        case .pause:
            let deadline = time.now + Self.longestPause
            for id in ids where time.now < deadline { await transferEnd(of: id) }
        case .resume, .retry: break
        }
    }
}

extension Command {
    /// The states of the tasks that are meant where the verb is for all tasks (contract, StartAll,
    /// PauseAll and ClearCompleted).
    package var statesOfAll: Set<TaskState.Kind> {
        switch self {
        case .resume: [.paused, .failed]
        case .pause: [.waiting, .downloading]
        case .remove: [.completed]
        case .retry, .cancel: []
        }
    }
}

/// What a verb did to a selection.
private struct Selection: Sendable {
    var changed: [TaskID] = []
    /// Finished tasks that are not meant.
    var spared: [TaskID] = []
    /// Tasks whose files are getting their names; if there are any, nothing has changed yet.
    var publishing: [TaskID] = []
}

extension Transaction {
    fileprivate func select(
        _ ids: [TaskID],
        for command: Command,
        _ meant: Set<TaskID>?,
        _ stuck: Set<TaskID>,
        isRest: Bool,
        mayPassOver: Bool
    ) throws -> (Selection, [Change]) {
        var selection = Selection()
        var changes: [Change] = []
        var seen: Set<TaskID> = []
        for id in ids where seen.insert(id).inserted {
            do {
                guard let before = try task(id), before.intent != .remove else {
                    guard isRest else { throw ServiceRefusal.noSuchTask(id.description) }
                    continue
                }
                if before.mustSettle(before: command, onStuckDisk: stuck.contains(id)) {
                    selection.publishing.append(id)
                }
            } catch StoreFailure.corruptRecord where command == .remove {
                // It is removed below.
            }
        }
        guard selection.publishing.isEmpty || mayPassOver else { return (selection, []) }
        selection.publishing = []
        for id in ids where seen.remove(id) != nil {
            do {
                let change = try change(id, for: command) { record in
                    if let meant, !meant.contains(id), record.state == .completed {
                        selection.spared.append(id)
                        return []
                    }
                    return try record.apply(command, onStuckDisk: stuck.contains(id))
                }
                guard let change, !change.effects.isEmpty else { continue }
                changes.append(change)
                selection.changed.append(id)
            } catch is Refusal {
                // The verb makes no sense for this task.
            }
        }
        return (selection, changes)
    }
}
