// SPDX-License-Identifier: Apache-2.0

package import Curl
package import iDownData
package import iDownState

extension Coordinator {
    /// Carries out a verb on one task; returns once that is durable.
    package func carryOut(_ command: Command, on id: TaskID) async throws {
        try await decide(on: id) { record throws(Refusal) in try record.apply(command) }
        // The file is gone before the caller hears that it is, and the bytes that are kept are
        // on record.
        switch command {
        case .remove, .cancel: try await deletionEnd(of: id)
        case .pause: await transferEnd(of: id)
        case .resume, .retry: break
        }
    }

    /// Gives a task a fresh link; returns once that is durable.
    package func setURL(of id: TaskID, to url: URLReference) async throws {
        try await decide(on: id) { record throws(Refusal) in
            let old = try? URLReference(record.request.url)
            return try record.setURL(url.text, isSameOrigin: old?.origin == url.origin)
        }
    }

    /// Has something decided about a task; returns once that is durable.
    private func decide(
        on id: TaskID,
        _ body: @escaping @Sendable (inout TaskRecord) throws(Refusal) -> [Effect]
    ) async throws {
        try refuseWhileStopping()
        var fruitless = 0
        while true {
            do {
                try await commit { transaction in
                    let change = try transaction.change(id) { try body(&$0) }
                    guard let change else { throw ServiceRefusal.noSuchTask(id.description) }
                    return ((), [change])
                }
                return
            } catch Refusal.publishing {
                try refuseWhileStopping()
                // With nothing to wait for it may just have ended; or nobody can end it for now.
                if await !publicationEnd(of: id) { fruitless += 1 }
                guard fruitless < 3 else { throw Refusal.publishing }
                try refuseWhileStopping()
            } catch Refusal.gone {
                throw ServiceRefusal.noSuchTask(id.description)
            }
        }
    }

    /// Carries out a verb on every task in one of the states, in one commit.
    ///
    /// - Returns: how many tasks it changed.
    package func carryOut(
        _ command: Command,
        onAllIn states: Set<TaskState.Kind>
    ) async throws -> Int {
        try refuseWhileStopping()
        return try await commit { transaction in
            let changes = try transaction.ids(in: states).flatMap { id in
                do {
                    return try transaction.changeIfReadable(id) { try $0.apply(command) }
                } catch is Refusal {
                    // Being published or removed at this moment: as good as done already.
                    return []
                }
            }.filter { !$0.effects.isEmpty }
            return (changes.count, changes)
        }
    }

    package func task(_ id: TaskID) async throws -> TaskSnapshot {
        let record = try await store.read { snapshot throws(StoreFailure) in try snapshot.task(id) }
        guard let record, record.intent != .remove else {
            throw ServiceRefusal.noSuchTask(id.description)
        }
        return snapshot(of: record)
    }

    /// All tasks, in the order of adding.
    package func tasks() async throws -> [TaskSnapshot] {
        try await store.read { snapshot throws(StoreFailure) in try snapshot.tasks() }
            .map { snapshot(of: $0) }
    }

    package func counts() async throws -> TaskCounts {
        try await store.read { snapshot throws(StoreFailure) in try snapshot.counts() }
    }

    /// Bytes a second, over all tasks.
    package var speed: UInt64 { meters.values.reduce(0) { $0 &+ $1.bytesPerSecond } }

    /// Changes how many tasks may run; acts at once.
    package func setSlots(_ slots: Int) {
        self.slots = slots
        fillSlots()
    }

    func refuseWhileStopping() throws {
        if isStopping { throw ServiceRefusal.stopping }
    }
}
