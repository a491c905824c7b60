// SPDX-License-Identifier: Apache-2.0

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
        guard let record, record.intent != .remove else {
            throw ServiceRefusal.noSuchTask(id.description)
        }
        return snapshot(of: record)
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
        let live = liveStates
        let found = try await store.read { snapshot throws(StoreFailure) in
            var listing = result
            var failure: (any Error)?
            try snapshot.forEachTask { record in
                do {
                    try take(&listing, live.snapshot(of: record))
                } catch {
                    failure = error
                }
                return failure == nil
            }
            return failure.map { .failure($0) } ?? Result<Listing, any Error>.success(listing)
        }
        return try found.get()
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
        let live = liveStates
        let found = try await store.read { snapshot throws(StoreFailure) in
            var page = page
            var failure: (any Error)?
            let total = try snapshot.forEachFound(search) { record in
                do {
                    try take(&page, live.snapshot(of: record))
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

    private var liveStates: LiveStates {
        var states = LiveStates()
        for (id, transfer) in running {
            states.add(id, transfer.attempt, liveState(of: transfer, id))
        }
        return states
    }

    /// The ids of all tasks, in the order of adding.
    package func taskIDs() async throws -> [TaskID] {
        try await store.read { snapshot throws(StoreFailure) in
            try snapshot.ids(in: Set(TaskState.Kind.allCases))
        }
    }

    package func counts() async throws -> TaskCounts {
        try await store.committedCounts()
    }
}

/// What runs at one moment, for looking at records elsewhere.
private struct LiveStates: Sendable {
    private var states: [TaskID: (attempt: AttemptNumber, live: LiveState)] = [:]

    mutating func add(_ id: TaskID, _ attempt: AttemptNumber, _ live: LiveState) {
        states[id] = (attempt, live)
    }

    func snapshot(of record: TaskRecord) -> TaskSnapshot {
        guard record.state == .downloading, let running = states[record.id],
            running.attempt == record.attempt
        else { return TaskSnapshot(record: record, live: nil) }
        return TaskSnapshot(record: record, live: running.live)
    }
}
