// SPDX-License-Identifier: Apache-2.0

import Executors
package import iDownData
package import iDownState
import iDownloader

// Requests that read and change nothing.
extension Coordinator {
    /// Returns a task as it is at this moment.
    ///
    /// - Throws: `ServiceRefusal.noSuchTask`.
    package func task(_ id: TaskID) async throws -> TaskSnapshot {
        let record = try await store.committedTask(id)
        guard let record, record.value.intent != .remove else {
            throw ServiceRefusal.noSuchTask(id.description)
        }
        return snapshot(of: record)
    }

    /// Returns a task if its record is in memory; nil otherwise.
    func taskAtHand(_ id: TaskID) -> TaskSnapshot? {
        guard let record = store.recentTask(id), record.value.intent != .remove else { return nil }
        return snapshot(of: record)
    }

    /// Returns a task as clients see it at this moment; with `isTold`, as they were told of it before
    /// a change.
    func snapshot(of record: Shared<TaskRecord>, isTold: Bool = false) -> TaskSnapshot {
        var snapshot = slots.snapshot(of: record, isTold: isTold)
        snapshot.isVerifying = verifications.isReading(record.value)
        return snapshot
    }

    /// Reads the list off the service's own thread.
    ///
    /// - Parameter body: Gets the list, and a function that returns a task as clients see it at this
    ///   moment.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws; `StoreFailure`.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Snapshot, (TaskRecord) -> TaskSnapshot) throws -> Value
    ) async throws -> Value {
        let view = slots.view(verifying: verifications.tasks)
        return try await store.read { try body($0, view) }
    }

    /// Returns the id of this list, and its newest serial.
    func position() async throws -> ListPosition { try await store.readNow { try $0.position() } }

    /// Returns the ids of all tasks, in the order of adding.
    package func taskIDs() async throws -> [TaskID] { try await store.read { try $0.allIDs() } }

    package func counts() async throws -> TaskCounts { try await store.committedCounts() }

    /// The speed of all tasks together, in bytes a second.
    package var speed: UInt64 { slots.speed }

    /// Whether no task runs and none waits for anything: a slot, its next try, the network, disk
    /// space.
    package var isIdle: Bool {
        get async {
            // A list that cannot be read may hold waiting tasks.
            guard let counts = try? await counts(), counts[.waiting] == 0 else { return false }
            return slots.isEmpty && commits.isIdle && handOvers.isIdle
        }
    }

    /// Returns the history of a task's attempts, the oldest entry first; empty for a completed
    /// task.
    package func history(of id: TaskID) async throws -> [History.Entry] {
        let record = try await task(id).record
        // The transfer of a completed task may not have ended yet.
        return record.state == .completed ? [] : engine.history(of: id)
    }

    /// Returns the connections that a task has open, the oldest first.
    func connections(of id: TaskID) async throws -> [LiveProgress.OpenConnection] {
        _ = try await task(id)
        return slots.running[id]?.live.openConnections(at: time.now) ?? []
    }

    /// Returns why a task makes no progress; empty where it does or is completed.
    func reasons(for id: TaskID) async throws -> [Reason] {
        try await Explanation(of: try await task(id), in: self).reasons
    }
}

extension Engine {
    /// Looks at something in a folder, for a limited time.
    ///
    /// - Returns: what was found; nil where the folder's disk does not answer within `limit`, or
    ///   has kept an earlier look waiting for ``Coordinator/longestLook``.
    /// - Throws: what `body` throws.
    func look<Value: Sendable, Failure: Error>(
        in directory: String,
        _ limit: Duration = Coordinator.longestLook,
        _ body: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
        guard disk.fileSystem(of: directory) != nil else { return try await body() }
        guard !disk.holdsUpLooks(in: directory, for: Coordinator.longestLook) else { return nil }
        return try await withTimeLimit(limit, body)
    }
}
