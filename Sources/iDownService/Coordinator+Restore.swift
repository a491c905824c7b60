// SPDX-License-Identifier: Apache-2.0

import Executors
import Logging
import iDownData
import iDownState
import iDownloader

extension Coordinator {
    /// Single log lines at a start; beyond that only the summary counts.
    static let mostRestoreLines = 100
    /// The longest that anybody waits for a look at a folder: its disk may hang.
    static let longestLook: Duration = .seconds(2)

    /// Takes up what the last run of the service left.
    ///
    /// What was downloading waits for a slot again, open intents are carried out, partial files
    /// are held against the record. Nothing starts before `begin`.
    package func restore() async throws {
        var changed = try await wakeUp()
        let interrupted = try await store.read { snapshot throws(StoreFailure) in
            try snapshot.tasksWithIntent()
        }
        var hanging: Set<UInt64> = []
        for record in interrupted {
            let look = await look(at: record, unless: &hanging) { [engine] in
                await engine.carryOutIntent(of: record)
            }
            if let event = look {
                changed += try await recordRestored(event, of: record)
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
            let look = await look(at: record, unless: &hanging) { [engine] in
                await engine.measurePartial(of: record)
            }
            guard let event = look else { continue }
            changed += try await recordRestored(event, of: record)
        }
        noteCompleted(changed)
        for line in changed.lazy.compactMap(\.line).prefix(Self.mostRestoreLines) {
            log.info("\(line)")
        }
        let total = try await counts().total
        log.notice("tasks in the list: \(total); changed by the restart: \(changed.count)")
    }

    /// Looks at a task's file, but does not wait for a disk that hangs: the service has other tasks.
    ///
    /// - Returns: what was found; nil where that cannot be told now.
    private func look(
        at record: TaskRecord,
        unless hanging: inout Set<UInt64>,
        _ body: @escaping @Sendable () async -> Event?
    ) async -> Event? {
        let directory = record.request.directory
        let device = engine.disk.fileSystem(of: directory) ?? 0
        guard !hanging.contains(device) else { return nil }
        let found = await look(in: directory, Self.longestLook, body)
        if found == nil {
            log.warning("the folder of task \(record.id) does not answer")
            hanging.insert(device)
        }
        return found ?? nil
    }

    /// Looks at something in a folder.
    ///
    /// - Returns: what was found; nil where the folder's disk does not answer within `limit`.
    func look<Value: Sendable>(
        in directory: String,
        _ limit: Duration,
        _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        guard engine.disk.fileSystem(of: directory) != nil else { return await body() }
        return await promptly(within: limit, body)
    }

    /// Starts what may run.
    package func begin() {
        hasBegun = true
        fillSlots()
        for record in unsettled { carryOutIntentLater(of: record) }
        unsettled = []
        startClearing()
    }

    /// Puts a file in order that could not be at the start, as soon as the file system lets it.
    private func carryOutIntentLater(of record: TaskRecord) {
        tryAgain(record.id) { [self] in
            guard let event = await engine.carryOutIntent(of: record) else { return false }
            return (try? await recordEvent(event, of: record.id)) != nil
        }
    }

    struct Restored: Sendable {
        /// What the log says of its file; a new state is written down by the commit.
        let line: String?
        /// The task, where the restart has found its file complete.
        let completed: TaskRecord?
    }

    /// Tells every task that was under way, or waiting for its next try, of the restart.
    private func wakeUp() async throws -> [Restored] {
        let now = time.date
        let rests = engine.rests
        let (restored, unreadable): ([Restored], [TaskID]) = try await commit { transaction in
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
        for id in unreadable { log.warning("task \(id) cannot be read, and counts as failed") }
        return restored
    }

    private func recordRestored(_ event: Event, of record: TaskRecord) async throws -> [Restored] {
        let now = time.date
        return try await commit { transaction in
            let change = try transaction.change(record.id) {
                $0.apply(event, at: now, jitter: 0)
            }
            guard let change, !change.effects.isEmpty else { return ([], []) }
            return ([Restored(change)].compactMap(\.self), [change])
        }
    }

    /// Keeps what nobody could be told of yet.
    private func noteCompleted(_ restored: [Restored]) {
        for completed in restored.compactMap(\.completed) {
            guard completedByRestore.count < Self.mostRestoreLines else { return }
            completedByRestore.append(TaskSnapshot(record: completed, live: nil))
        }
    }
}

extension Coordinator.Restored {
    init?(_ change: Change) {
        guard let before = change.before else { return nil }
        completed =
            before.state != .completed && change.after.state == .completed ? change.after : nil
        let id = change.after.id
        if change.effects.contains(.erase) {
            line = "task \(id): its file is deleted"
        } else if before.segments != change.after.segments {
            line = "task \(id): \(change.after.segments.byteCount) bytes kept"
        } else {
            line = nil
        }
    }
}
