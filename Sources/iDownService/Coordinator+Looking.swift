// SPDX-License-Identifier: Apache-2.0

import Executors
import iDownBus
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

    /// Adds tasks to a value, in the order of adding, off the service's own thread.
    ///
    /// - Parameters:
    ///   - ids: The tasks, of which those that are not in the list are left out; nil for all.
    ///   - result: The value to which the first task is added.
    ///   - take: Adds a task to the value; an error that it throws ends the walk.
    /// - Returns: The value with the tasks.
    /// - Throws: What `take` throws; `StoreFailure`.
    package func tasks<Listing: Sendable>(
        _ ids: [TaskID]? = nil,
        into result: Listing,
        _ take: @escaping @Sendable (inout Listing, TaskSnapshot) throws -> Void
    ) async throws -> Listing {
        let view = slots.view(verifying: verifications.tasks)
        return try await store.read { snapshot in
            var result = result
            let add = { (record: TaskRecord) throws -> Bool in
                try take(&result, view(record))
                return true
            }
            if let ids {
                try snapshot.forEachTask(of: ids, add)
            } else {
                try snapshot.forEachTask(add)
            }
            return result
        }
    }

    /// Returns one page of the tasks that a search finds, and how many it finds in all.
    ///
    /// - Parameters:
    ///   - search: What to search for.
    ///   - page: The value to which the first task is added.
    ///   - take: Adds a task to the value; an error that it throws ends the search.
    /// - Returns: The value with the tasks of the page, and the number of all.
    /// - Throws: What `take` throws; `StoreFailure`.
    package func find<Page: Sendable>(
        _ search: TaskSearch,
        into page: Page,
        _ take: @escaping @Sendable (inout Page, TaskSnapshot) throws -> Void
    ) async throws -> (page: Page, total: Int) {
        let view = slots.view(verifying: verifications.tasks)
        return try await store.read { snapshot in
            var (search, page) = (search, page)
            if search.order == .timeLeft {
                let running = try snapshot.runningByTimeLeft(view)
                search.first = search.isDescending ? running.reversed() : running
            } else if search.order == .progress {
                search.progress = try snapshot.progressOfRunning(view)
            }
            let total = try snapshot.forEachFound(search) { record in
                try take(&page, view(record))
                return true
            }
            return (page, total)
        }
    }

    /// Returns one page of what changed after a serial.
    ///
    /// - Parameters:
    ///   - serial: the serial.
    ///   - query: what the client asks for.
    ///   - listing: the listing to which the first task is added.
    ///   - take: adds a task, as the caller sees it.
    /// - Returns: the page.
    /// - Throws: `LimitExceeded` where the changes are not known any more; `StoreFailure`.
    func changes(
        since serial: UInt64,
        _ query: ChangesQuery,
        into listing: TaskListing,
        _ take: @escaping @Sendable (inout TaskListing, TaskSnapshot) throws -> Void
    ) async throws -> ChangesPage {
        let view = slots.view(verifying: verifications.tasks)
        return try await store.read { snapshot in
            try snapshot.changes(since: serial, query, into: listing) { try take(&$0, view($1)) }
        }
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

extension Snapshot {
    /// Returns the running tasks whose time left is known, the shortest first.
    fileprivate func runningByTimeLeft(_ view: (TaskRecord) -> TaskSnapshot) throws -> [TaskID] {
        var found: [(left: Double, id: TaskID)] = []
        try forEachTask(in: .downloading) { record in
            if let left = TaskProperties(view(record)).timeLeft { found.append((left, record.id)) }
            return true
        }
        return found.sorted { $0 < $1 }.map(\.id)
    }

    fileprivate func progressOfRunning(
        _ view: (TaskRecord) -> TaskSnapshot
    ) throws -> [TaskID: Double] {
        var progress: [TaskID: Double] = [:]
        try forEachTask(in: .downloading) { record in
            progress[record.id] = TaskProperties(view(record)).progress
            return true
        }
        return progress
    }
}
