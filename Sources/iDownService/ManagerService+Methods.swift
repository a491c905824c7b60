// SPDX-License-Identifier: Apache-2.0

package import DBus
package import iDownBus
import iDownData
import iDownState

extension ManagerService: ManagerHandling {
    package nonisolated var version: String { Contract.version }

    package func activate(_ call: Call, token: String) { activated(token) }

    package func quit(_ call: Call) async throws {
        try await permit(call)
        quitting()
    }

    // MARK: Verbs

    package func carryOut(_ call: Call, _ method: TaskMethod, on id: String) async throws {
        try await coordinator.carryOut(Command(method), on: try await permitted(call, id))
    }

    package func carryOut(
        _ call: Call,
        _ method: TaskMethod,
        onEach ids: [String]
    ) async throws -> UInt32 {
        let ids = try ids.map(taskID)
        try await permit(call, on: ids)
        return UInt32(clamping: try await coordinator.carryOut(Command(method), on: ids))
    }

    package func carryOutOnAll(_ call: Call, _ method: TaskMethod) async throws -> UInt32 {
        let states: Set<TaskState.Kind> =
            switch method {
            case .resume: [.paused, .failed]
            case .pause: [.waiting, .downloading]
            case .remove: [.completed]
            case .retry, .cancel: []
            }
        try await permit(call)
        return UInt32(
            clamping: try await coordinator.carryOut(Command(method), onAllIn: states)
        )
    }

    package func removeTasks(
        _ call: Call,
        _ ids: [String],
        _ options: RemoveOptions
    ) async throws -> UInt32 {
        guard options.trashFiles == true else {
            return try await carryOut(call, .remove, onEach: ids)
        }
        let ids = try ids.map(taskID)
        try await permit(call, on: ids)
        return UInt32(
            clamping: try await coordinator.remove(
                ids,
                trashingWith: folders.dataHome,
                goingToDisk: call.makeWay
            )
        )
    }

    // MARK: One task

    package func setURL(_ call: Call, of id: String, to url: String) async throws {
        let id = try await permitted(call, id)
        try await coordinator.setURL(of: id, to: Wishes.reference(url))
    }

    package func setOptions(_ call: Call, of id: String, _ options: EditOptions) async throws {
        let id = try await permitted(call, id)
        let wishes = wishes(for: await callers.caller(of: call).owner)
        // Before the folder is made.
        let record = try await coordinator.task(id).record
        if !record.isPublishing { try record.check(options.options) }
        try await coordinator.edit(id, wishes.judge(options, for: record))
    }

    package func setPriority(_ call: Call, of id: String, to priority: Int32) async throws {
        try await coordinator.setPriority(priority, of: try await permitted(call, id))
    }

    package func set(
        _ call: Call,
        _ property: TaskProperty,
        of id: String,
        to value: Value
    ) async throws {
        let id = try taskID(id)
        // Properties are for the user's own programs to set, also those of a task.
        try await permit(call)
        switch (property, value) {
        case (.priority, .int32(let priority)):
            try await coordinator.setPriority(priority, of: id)
        case (.speedLimit, .uint64(let limit)):
            try await coordinator.setSpeedLimit(of: id, to: Int64(clamping: limit))
        case (.maxConnections, .uint32(let count)):
            try await coordinator.setConnections(of: id, to: count == 0 ? nil : Int(count))
        default: break
        }
    }

    package func wait(_ call: Call, for id: String) async throws -> String {
        let id = try taskID(id)
        let owner = await callers.caller(of: call).owner
        return try await departures.during(call, in: self) {
            let client = call.sender?.rawValue ?? ""
            let end = try await coordinator.end(of: id, for: client, of: owner)
            return end?.rawValue ?? Contract.removed
        }
    }

    package func verify(_ call: Call, _ id: String) async throws -> String {
        let id = try await permitted(call, id)
        let owner = await callers.caller(of: call).owner
        return try await departures.during(call, in: self) {
            let client = call.sender?.rawValue ?? ""
            return try await coordinator.verify(id, for: client, of: owner).rawValue
        }
    }
}

extension EditOptions {
    /// The values that are given.
    fileprivate var options: [TaskEdit.Option] {
        dictionary.keys.compactMap(TaskEdit.Option.init)
    }
}

extension Command {
    fileprivate init(_ method: TaskMethod) {
        switch method {
        case .pause: self = .pause
        case .resume: self = .resume
        case .retry: self = .retry
        case .cancel: self = .cancel
        case .remove: self = .remove
        }
    }
}
