// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
package import iDownState
import iDownloader

// Verbs for many tasks at once, one commit each.
extension Coordinator {
    /// Carries out a verb on every task in one of the states.
    ///
    /// - Returns: how many tasks it changed.
    package func carryOut(
        _ command: Command,
        onAllIn states: Set<TaskState.Kind>
    ) async throws -> Int {
        try refuseWhileStopping()
        let (count, publishing) = try await commit(answering: .afterSignals) { transaction in
            var publishing: [TaskID] = []
            let changes = try transaction.changeAll(in: states) { id, refusal in
                // Any other is being removed at this moment.
                if refusal == .publishing { publishing.append(id) }
            } _: {
                try $0.apply(command)
            }
            return ((changes.count, publishing), changes)
        }
        return try await count + carryOutLater(command, on: publishing, isRest: count > 0)
    }

    /// Carries out a verb on tasks that are refused while their files may be getting their names.
    ///
    /// Most are completed then. But an attempt that has just begun finds out first what an earlier
    /// one has left, and goes on downloading where that was no complete file.
    ///
    /// - Parameters:
    ///   - command: the verb.
    ///   - ids: the tasks.
    ///   - isRest: whether others have changed already: that is what the caller has to know then.
    /// - Returns: how many tasks it changed.
    /// - Throws: what keeps it from changing any.
    private func carryOutLater(
        _ command: Command,
        on ids: [TaskID],
        isRest: Bool
    ) async throws -> Int {
        var count = 0
        for id in ids {
            do {
                count += try await carryOut(command, on: [id])
            } catch ServiceRefusal.noSuchTask {
                // Removed meanwhile.
            } catch ServiceRefusal.stopping where isRest || count > 0 {
                break
            } catch {
                guard isRest || count > 0 else { throw error }
                log.warning("a task could not be changed with the others: \(error)")
            }
        }
        return count
    }

    /// Carries out a verb on a selection; those that cannot take it are passed over.
    ///
    /// - Returns: how many tasks it changed.
    /// - Throws: `ServiceRefusal.noSuchTask`, and nothing has changed, where one is not there.
    package func carryOut(_ command: Command, on ids: [TaskID]) async throws -> Int {
        try await carryOut(command, on: ids, sparingFinishedBut: nil).changed
    }

    /// The same, where of the finished tasks only some are meant.
    ///
    /// - Parameters:
    ///   - command: The verb.
    ///   - ids: The selection.
    ///   - meant: The finished ones that are; nil for all.
    /// - Returns: how many tasks it changed, and the finished ones that were not meant.
    /// - Throws: as above.
    func carryOut(
        _ command: Command,
        on ids: [TaskID],
        sparingFinishedBut meant: Set<TaskID>?
    ) async throws -> (changed: Int, spared: [TaskID]) {
        var publishing: [TaskID] = []
        var hangs = false
        // A file that is just being given its name is worth a short wait.
        for round in 0..<3 {
            // Files that are in the trash already take their tasks along.
            if meant == nil { try refuseWhileStopping() }
            let mayPassOver = round == 2 || hangs
            let turn = meant == nil ? Commits.Queue.Turn.afterSignals : .inOrder
            let outcome = try await commit(answering: turn) { transaction in
                try transaction.select(ids, for: command, meant, mayPassOver: mayPassOver)
            }
            publishing = outcome.publishing
            guard !publishing.isEmpty else {
                await finish(command, on: outcome.changed)
                return (outcome.changed.count, outcome.spared)
            }
            for id in publishing where !hangs {
                hangs = await publications.end(of: id, in: self) == .hangs
            }
            if !hangs { hangs = await !publications.settle(Set(publishing), in: self) }
        }
        return (0, [])
    }

    /// Waits for what the caller of a verb is to find done, beside the record.
    func finish(_ command: Command, on ids: [TaskID]) async {
        switch command {
        // The file is gone before the caller hears that it is, unless its disk hangs.
        case .remove, .cancel:
            for id in ids { guard await deletions.end(of: id, in: self) else { return } }
        // The bytes that are kept are on record; a disk that hangs costs the time of one, not of
        // all.
        case .pause:
            let deadline = time.now + Self.longestPause
            for id in ids where time.now < deadline { await transferEnd(of: id) }
        case .resume, .retry: break
        }
    }
}

/// What a verb did to a selection.
private struct Selection: Sendable {
    var changed: [TaskID] = []
    /// Finished, and not meant.
    var spared: [TaskID] = []
    /// With any of these nothing has changed yet.
    var publishing: [TaskID] = []
}

extension Transaction {
    fileprivate func select(
        _ ids: [TaskID],
        for command: Command,
        _ meant: Set<TaskID>?,
        mayPassOver: Bool
    ) throws -> (Selection, [Change]) {
        var selection = Selection()
        var changes: [Change] = []
        var seen: Set<TaskID> = []
        var publishing: [TaskID] = []
        var unreadable: Set<TaskID> = []
        for id in ids where seen.insert(id).inserted {
            do {
                guard let before = try task(id), before.intent != .remove else {
                    throw ServiceRefusal.noSuchTask(id.description)
                }
                if before.mustSettle(before: command) { publishing.append(id) }
            } catch StoreFailure.corruptRecord where command == .remove {
                unreadable.insert(id)
            }
        }
        guard publishing.isEmpty || mayPassOver else {
            selection.publishing = publishing
            return (selection, [])
        }
        for id in ids where seen.remove(id) != nil {
            if unreadable.contains(id) {
                changes.append(try removeUnreadable(id))
                selection.changed.append(id)
                continue
            }
            if let meant, !meant.contains(id), try task(id)?.state == .completed {
                selection.spared.append(id)
                continue
            }
            do {
                guard let change = try change(id, { try $0.apply(command) }) else { continue }
                guard !change.effects.isEmpty else { continue }
                changes.append(change)
                selection.changed.append(id)
            } catch is Refusal {
                // The verb makes no sense for this one.
            }
        }
        return (selection, changes)
    }
}
