// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState
import iDownloader

/// Takes up the tasks as the last run of the service left them.
///
/// Tasks that were downloading wait for a slot again, recorded intents are carried out, and partial
/// files are compared with their records.
final class Restart {
    /// What the restart did to one task.
    struct Restored: Sendable {
        /// The log line about the task's file, or nil; the commit logs a new state.
        let line: String?
        /// The task, if the restart found its file complete; nil otherwise.
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

    /// The most tasks with a log line of their own at a start; the summary counts all.
    private static let mostLines = 100

    /// Tasks whose file was found complete before clients could listen; only the first if they are
    /// many.
    private(set) var completed: [TaskSnapshot] = []
    /// The devices that do not answer.
    private var hanging: Set<UInt64> = []

    func restore(in coordinator: isolated Coordinator) async throws {
        let (store, engine, log) = (coordinator.store, coordinator.engine, coordinator.log)
        var changed = try await wakeUp(in: coordinator)
        let interrupted = try await store.read { try $0.tasksWithIntent() }
        for record in interrupted {
            let look = await look(at: record, in: coordinator) {
                await engine.carryOutIntent(of: record)
            }
            if let event = look {
                let change = try await coordinator.recordEvent(event, of: record.id)
                if let restored = change.flatMap(Restored.init) { changed.append(restored) }
            } else if record.isDeleting {
                // It is tried again until it succeeds.
                coordinator.deletions.begin(of: record, in: coordinator)
            }
            // The next attempt looks for a file that may already have its name.
        }
        let unfinished = try await store.read { try $0.unfinishedTasksWithFile() }
        for record in unfinished {
            engine.restoreName(of: record)
            let look = await look(at: record, in: coordinator) {
                await engine.measurePartial(of: record)
            }
            guard let event = look else { continue }
            let change = try await coordinator.recordEvent(event, of: record.id)
            if let restored = change.flatMap(Restored.init) { changed.append(restored) }
        }
        // No client could be told of these tasks yet.
        completed = changed.compactMap(\.completed).prefix(Self.mostLines).map {
            TaskSnapshot(record: $0, live: nil)
        }
        for line in changed.lazy.compactMap(\.line).prefix(Self.mostLines) { log.info("\(line)") }
        let total = try await coordinator.counts().total
        log.notice("tasks in the list: \(total); changed by the restart: \(changed.count)")
    }

    /// Looks at a task's file, but gives up on a disk that hangs, because the service has other
    /// tasks.
    ///
    /// - Returns: what was found; nil where nothing is known now.
    private func look(
        at record: TaskRecord,
        in coordinator: isolated Coordinator,
        _ body: @escaping @Sendable () async -> Event?
    ) async -> Event? {
        let directory = record.request.directory
        let device = coordinator.engine.disk.fileSystem(of: directory) ?? 0
        guard !hanging.contains(device) else { return nil }
        // Clients wait for the service meanwhile.
        let limit = max(.seconds(1), Coordinator.longestLook / (hanging.count + 1))
        let found = await coordinator.engine.look(in: directory, limit, body)
        if found == nil {
            coordinator.log.warning("the folder of task \(record.id) does not answer")
            hanging.insert(device)
        }
        return found ?? nil
    }

    /// Applies the restart to every task that was running, in back-off or held by outside
    /// conditions.
    private func wakeUp(in coordinator: isolated Coordinator) async throws -> [Restored] {
        let now = coordinator.time.date
        let engine = coordinator.engine
        let (restored, unreadable): ([Restored], [TaskID]) = try await coordinator.commit {
            transaction in
            // A running task that cannot be read would keep its slot for ever, so it fails.
            let unreadable = try transaction.running().filter { id in
                try transaction.failIfUnreadable(id)
            }
            let ids =
                try transaction.running() + transaction.tasksInBackOff()
                + Hold.byTheWorld.flatMap { try transaction.held(by: $0) }
            let changes = try ids.flatMap { id in
                try transaction.changeIfReadable(id) {
                    $0.apply(.serviceStarted, at: now, jitter: 0)
                }
            }
            for change in changes {
                engine.hosts.restoreRest(from: change.after, at: now)
            }
            return ((changes.compactMap(Restored.init), unreadable), changes)
        }
        for id in unreadable {
            coordinator.log.warning("task \(id) cannot be read, and counts as failed")
        }
        return restored
    }
}
