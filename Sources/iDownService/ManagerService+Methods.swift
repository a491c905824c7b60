// SPDX-License-Identifier: Apache-2.0

package import DBus
package import iDownBus
import iDownState

extension ManagerService: ManagerHandling {
    package nonisolated var version: String { Contract.version }

    // MARK: Verbs

    package func pause(_ id: String, call: Call) async throws(ManagerError) {
        try await carryOut(.pause, id, call)
    }

    package func resume(_ id: String, call: Call) async throws(ManagerError) {
        try await carryOut(.resume, id, call)
    }

    package func retry(_ id: String, call: Call) async throws(ManagerError) {
        try await carryOut(.retry, id, call)
    }

    package func cancel(_ id: String, call: Call) async throws(ManagerError) {
        try await carryOut(.cancel, id, call)
    }

    package func remove(_ id: String, call: Call) async throws(ManagerError) {
        try await carryOut(.remove, id, call)
    }

    package func startAll(call: Call) async throws(ManagerError) -> UInt32 {
        try await carryOut(.resume, [.paused, .failed], call)
    }

    package func pauseAll(call: Call) async throws(ManagerError) -> UInt32 {
        try await carryOut(.pause, [.waiting, .downloading], call)
    }

    package func clearCompleted(call: Call) async throws(ManagerError) -> UInt32 {
        try await carryOut(.remove, [.completed], call)
    }

    package func setURL(
        _ id: String,
        to url: String,
        call: Call
    ) async throws(ManagerError) {
        try await named {
            let id = try taskID(id)
            try await permit(call, on: [id])
            try await coordinator.setURL(of: id, to: Wishes.reference(url))
        }
    }

    package func quit(call: Call) async throws(ManagerError) {
        try await permit(call)
        quitting()
    }

    // MARK: Looking

    package func getTask(_ id: String, call: Call) async throws(ManagerError) -> TaskProperties {
        try await named {
            let view = await view(for: call)
            return view(try await coordinator.task(try taskID(id)))
        }
    }

    package func listTasks(call: Call) async throws(ManagerError) -> TaskListing {
        try await named {
            let view = await view(for: call)
            return try await inTurn(call) {
                try await coordinator.tasks(into: TaskListing()) { list, task in
                    try list.append(view(task))
                }
            }
        }
    }

    package func hasTask(_ id: String) async throws(ManagerError) -> Bool {
        guard let id = TaskID(id) else { return false }
        do {
            _ = try await coordinator.task(id)
            return true
        } catch ServiceRefusal.noSuchTask {
            return false
        } catch {
            throw ManagerError(error)
        }
    }

    package func taskIDs() async throws(ManagerError) -> [String] {
        try await named { try await coordinator.taskIDs().map(\.description) }
    }
}
