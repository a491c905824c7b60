// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState
import iDownloader

/// Takes up what the last run of the service left.
///
/// What was downloading waits for a slot again, open intents are carried out, partial files are
/// held against the record.
final class Restart {
    /// What the restart did to one task.
    struct Restored: Sendable {
        /// What the log says of its file; a new state is written down by the commit.
        let line: String?
        /// The task, where the restart has found its file complete.
        let completed: TaskRecord?

        init?(_ change: Change) {
            guard let before = change.before else { return nil }
            let isErased = change.effects.contains(.erase)
            completed =
                !isErased && before.state != .completed && change.after.state == .completed
                ? change.after : nil
            let id = change.after.id
            if isErased, change.after.state == .completed {
                line = "task \(id): completed, and private"
            } else if isErased {
                line = "task \(id): its file is deleted"
            } else if before.segments != change.after.segments {
                line = "task \(id): \(change.after.segments.byteCount) bytes kept"
            } else {
                line = nil
            }
        }
    }

    /// Single log lines at a start; beyond that only the summary counts.
    private static let mostLines = 100

    /// Tasks whose file was found complete, before anybody listened; the first where they are many.
    private(set) var completed: [TaskSnapshot] = []
    /// Records whose intent could not be carried out.
    private var unsettled: [TaskRecord] = []
    /// Disks that do not answer.
    private var hanging: Set<UInt64> = []

    func restore(in coordinator: isolated Coordinator) async throws {
        let (store, engine, log) = (coordinator.store, coordinator.engine, coordinator.log)
        var changed = try await wakeUp(in: coordinator)
        let interrupted = try await store.read { snapshot throws(StoreFailure) in
            try snapshot.tasksWithIntent()
        }
        for record in interrupted {
            let look = await look(at: record, in: coordinator) {
                await engine.carryOutIntent(of: record)
            }
            if let event = look {
                let change = try await coordinator.recordEvent(event, of: record.id)
                if let restored = change.flatMap(Restored.init) { changed.append(restored) }
            } else if record.isDeleting {
                log.warning("the file of task \(record.id) could not be deleted yet")
                unsettled.append(record)
            }
            // A file that may have its name is looked for by the next attempt.
        }
        let unfinished = try await store.read { snapshot throws(StoreFailure) in
            try snapshot.unfinishedTasksWithFile()
        }
        for record in unfinished {
            engine.restoreName(of: record)
            let look = await look(at: record, in: coordinator) {
                await engine.measurePartial(of: record)
            }
            guard let event = look else { continue }
            let change = try await coordinator.recordEvent(event, of: record.id)
            if let restored = change.flatMap(Restored.init) { changed.append(restored) }
        }
        // Nobody could be told of these yet.
        completed = changed.compactMap(\.completed).prefix(Self.mostLines).map {
            TaskSnapshot(record: $0, live: nil)
        }
        for line in changed.lazy.compactMap(\.line).prefix(Self.mostLines) { log.info("\(line)") }
        let total = try await coordinator.counts().total
        log.notice("tasks in the list: \(total); changed by the restart: \(changed.count)")
    }

    /// Puts files in order that could not be at the start, as soon as the file system lets it.
    func settle(in coordinator: isolated Coordinator) {
        for record in unsettled {
            coordinator.deletions.tryAgain(record.id, in: coordinator) {
                guard let event = await coordinator.engine.carryOutIntent(of: record) else {
                    return false
                }
                do {
                    try await coordinator.recordEvent(event, of: record.id)
                    return true
                } catch {
                    return false
                }
            }
        }
        unsettled = []
    }

    /// Looks at a task's file, but does not wait for a disk that hangs: the service has other tasks.
    ///
    /// - Returns: what was found; nil where that cannot be told now.
    private func look(
        at record: TaskRecord,
        in coordinator: isolated Coordinator,
        _ body: @escaping @Sendable () async -> Event?
    ) async -> Event? {
        let directory = record.request.directory
        let device = coordinator.engine.disk.fileSystem(of: directory) ?? 0
        guard !hanging.contains(device) else { return nil }
        let found = await coordinator.look(in: directory, Coordinator.longestLook, body)
        if found == nil {
            coordinator.log.warning("the folder of task \(record.id) does not answer")
            hanging.insert(device)
        }
        return found ?? nil
    }

    /// Tells every task that was under way, or waiting for its next try, of the restart.
    private func wakeUp(in coordinator: isolated Coordinator) async throws -> [Restored] {
        let now = coordinator.time.date
        let rests = coordinator.engine.rests
        let (restored, unreadable): ([Restored], [TaskID]) = try await coordinator.commit {
            transaction in
            // One of these can neither run nor ever give its slot back.
            let unreadable = try transaction.running().map(\.id).filter { id in
                try transaction.failIfUnreadable(id)
            }
            let ids =
                try transaction.running().map(\.id) + transaction.tasksInBackOff().map(\.id)
                + Hold.byTheWorld.flatMap { try transaction.held(by: $0) }
            let changes = try ids.flatMap { id in
                try transaction.changeIfReadable(id) {
                    $0.apply(.serviceStarted, at: now, jitter: 0)
                }
            }
            for change in changes { rests.restore(from: change.after, at: now) }
            return ((changes.compactMap(Restored.init), unreadable), changes)
        }
        for id in unreadable {
            coordinator.log.warning("task \(id) cannot be read, and counts as failed")
        }
        return restored
    }
}
