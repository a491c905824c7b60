// SPDX-License-Identifier: Apache-2.0

import Executors
import iDownBus
package import iDownData
package import iDownState
import iDownloader

// What is asked and changes nothing.
extension Coordinator {
    /// A task as it is at this moment.
    ///
    /// - Throws: `ServiceRefusal.noSuchTask`.
    package func task(_ id: TaskID) async throws -> TaskSnapshot {
        let record = try await store.committedTask(id)
        guard let record, record.value.intent != .remove else {
            throw ServiceRefusal.noSuchTask(id.description)
        }
        return snapshot(of: record)
    }

    /// The same task where its record is at hand; else nil.
    func taskAtHand(_ id: TaskID) -> TaskSnapshot? {
        guard let record = store.recentTask(id), record.value.intent != .remove else { return nil }
        return snapshot(of: record)
    }

    /// What a task looks like from outside at this moment.
    func snapshot(of record: Shared<TaskRecord>) -> TaskSnapshot {
        var snapshot = slots.snapshot(of: record)
        snapshot.isVerifying = verifications.isReading(record.value)
        return snapshot
    }

    /// Takes all tasks into a value, in the order of adding and away from the service's own thread.
    ///
    /// - Parameters:
    ///   - result: What the first one is added to.
    ///   - take: Adds one; what it throws ends the walk.
    /// - Returns: The value with all tasks.
    /// - Throws: What `take` throws; `StoreFailure`.
    package func tasks<Listing: Sendable>(
        into result: Listing,
        _ take: @escaping @Sendable (inout Listing, TaskSnapshot) throws -> Void
    ) async throws -> Listing {
        try await collect(into: result, take) { snapshot, _, body throws(StoreFailure) in
            try snapshot.forEachTask(body)
            return 0
        }.page
    }

    /// Takes some tasks into a value, in the order of the ids and away from the service's own thread.
    ///
    /// - Parameters:
    ///   - ids: The tasks; those that are not in the list are left out.
    ///   - result: What the first one is added to.
    ///   - take: Adds one; what it throws ends the walk.
    /// - Returns: The value with the tasks.
    /// - Throws: What `take` throws; `StoreFailure`.
    func tasks<Listing: Sendable>(
        _ ids: [TaskID],
        into result: Listing,
        _ take: @escaping @Sendable (inout Listing, TaskSnapshot) throws -> Void
    ) async throws -> Listing {
        try await collect(into: result, take) { snapshot, _, body throws(StoreFailure) in
            try snapshot.forEachTask(of: ids, body)
            return 0
        }.page
    }

    /// One page of the tasks that a search finds, and how many it finds in all.
    ///
    /// - Parameters:
    ///   - search: What is looked for.
    ///   - page: What the first one is added to.
    ///   - take: Adds one; what it throws ends the search.
    /// - Returns: The value with the tasks of the page, and the number of all.
    /// - Throws: What `take` throws; `StoreFailure`.
    package func find<Page: Sendable>(
        _ search: TaskSearch,
        into page: Page,
        _ take: @escaping @Sendable (inout Page, TaskSnapshot) throws -> Void
    ) async throws -> (page: Page, total: Int) {
        try await collect(into: page, take) { snapshot, view, body throws(StoreFailure) in
            var search = search
            if search.order == .timeLeft {
                let running = try Self.byTimeLeft(snapshot, view)
                search.first = search.isDescending ? running.reversed() : running
            }
            return try snapshot.forEachFound(search, body)
        }
    }

    /// The running tasks of which is known when they are done, the first to be done first.
    private static func byTimeLeft(
        _ snapshot: Snapshot,
        _ view: (TaskRecord) -> TaskSnapshot
    ) throws(StoreFailure) -> [TaskID] {
        var found: [(left: Double, id: TaskID)] = []
        try snapshot.forEachTask(in: .downloading) { record in
            if let left = TaskProperties(view(record)).timeLeft { found.append((left, record.id)) }
            return true
        }
        return found.sorted { $0 < $1 }.map(\.id)
    }

    private func collect<Page: Sendable>(
        into page: Page,
        _ take: @escaping @Sendable (inout Page, TaskSnapshot) throws -> Void,
        _ walk:
            @escaping @Sendable (
                Snapshot, (TaskRecord) -> TaskSnapshot, (TaskRecord) -> Bool
            ) throws(StoreFailure) -> Int
    ) async throws -> (page: Page, total: Int) {
        let view = verifications.view(over: slots.view)
        let found = try await store.read { snapshot throws(StoreFailure) in
            var page = page
            var failure: (any Error)?
            let total = try walk(snapshot, view) { record in
                do {
                    try take(&page, view(record))
                } catch {
                    failure = error
                }
                return failure == nil
            }
            return failure.map { .failure($0) }
                ?? Result<(page: Page, total: Int), any Error>.success((page, total))
        }
        return try found.get()
    }

    /// One page of what changed after a serial.
    ///
    /// - Parameters:
    ///   - request: what is asked for.
    ///   - listing: what the first task is added to.
    ///   - take: adds one, as the caller sees it.
    /// - Returns: the page.
    /// - Throws: `LimitExceeded` where nobody knows what changed; `StoreFailure`.
    func changes(
        _ request: ChangesRequest,
        into listing: TaskListing,
        _ take: @escaping @Sendable (inout TaskListing, TaskSnapshot) throws -> Void
    ) async throws -> ChangesPage {
        let view = verifications.view(over: slots.view)
        return try await store.read { snapshot throws(StoreFailure) in
            try request.page(of: snapshot, into: listing) { try take(&$0, view($1)) }
        }.get()
    }

    /// Which list this is, and its newest serial.
    func position() async throws -> ListPosition {
        try await store.readNow { snapshot throws(StoreFailure) in try snapshot.position() }
    }

    /// The ids of all tasks, in the order of adding.
    package func taskIDs() async throws -> [TaskID] {
        try await store.read { snapshot throws(StoreFailure) in try snapshot.allIDs() }
    }

    package func counts() async throws -> TaskCounts {
        try await store.committedCounts()
    }

    /// Bytes a second, over all tasks.
    package var speed: UInt64 { slots.speed }

    /// Whether nothing runs and nothing waits, whatever for: its turn, its next try, the network,
    /// room on a disk.
    package var isIdle: Bool {
        get async {
            // A list that cannot be looked at may hold anything.
            guard let counts = try? await counts(), counts[.waiting] == 0 else { return false }
            return slots.isEmpty && commits.isIdle && handOvers.isIdle
        }
    }

    /// What has happened in the attempts of a task that is not complete, the oldest first.
    package func history(of id: TaskID) async throws -> [History.Entry] {
        let record = try await task(id).record
        // Its transfer may not have ended yet.
        return record.state == .completed ? [] : engine.history(of: id)
    }

    /// The connections that a task has open, the oldest first.
    func connections(of id: TaskID) async throws -> [LiveProgress.OpenConnection] {
        _ = try await task(id)
        return slots.running[id]?.live.openConnections(at: time.now) ?? []
    }

    /// Why a task does not move; empty where it does or is completed.
    func reasons(for id: TaskID) async throws -> [Reason] {
        try await Explanation(of: try await task(id), in: self).reasons
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
}
