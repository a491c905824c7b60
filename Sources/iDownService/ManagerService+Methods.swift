// SPDX-License-Identifier: Apache-2.0

package import DBus
package import iDownBus
import iDownData
import iDownState

extension ManagerService: ManagerHandling {
    package nonisolated var version: String { Contract.version }

    package var counts: (all: UInt32, waiting: UInt32, active: UInt32) {
        get async throws(ManagerError) {
            try await named {
                let counts = try await coordinator.counts()
                return (
                    UInt32(clamping: counts.total), UInt32(clamping: counts[.waiting]),
                    UInt32(clamping: counts[.downloading])
                )
            }
        }
    }

    package var speed: UInt64 {
        get async throws(ManagerError) { await coordinator.speed }
    }

    // MARK: Verbs

    package func carryOut(
        _ method: TaskMethod,
        on id: String,
        call: Call
    ) async throws(ManagerError) {
        try await named {
            let id = try taskID(id)
            try await permit(call, on: [id])
            try await coordinator.carryOut(Command(method), on: id)
        }
    }

    package func carryOut(
        _ method: TaskMethod,
        onEach ids: [String],
        call: Call
    ) async throws(ManagerError) -> UInt32 {
        try await named {
            let ids = try ids.map(taskID)
            try await permit(call, on: ids)
            return UInt32(clamping: try await coordinator.carryOut(Command(method), on: ids))
        }
    }

    package func carryOutOnAll(
        _ method: TaskMethod,
        call: Call
    ) async throws(ManagerError) -> UInt32 {
        let states: Set<TaskState.Kind> =
            switch method {
            case .resume: [.paused, .failed]
            case .pause: [.waiting, .downloading]
            case .remove: [.completed]
            case .retry, .cancel: []
            }
        return try await named {
            try await permit(call)
            let count = try await coordinator.carryOut(Command(method), onAllIn: states)
            return UInt32(clamping: count)
        }
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

    package func setOptions(
        _ options: EditOptions,
        of id: String,
        call: Call
    ) async throws(ManagerError) {
        try await named {
            let id = try taskID(id)
            try await permit(call, on: [id])
            let wishes = wishes(for: await callers.caller(of: call).owner)
            // Before the folder is made.
            let record = try await coordinator.task(id).record
            if !record.isPublishing { try record.check(options.options) }
            try await coordinator.edit(id, wishes.judge(options, for: record))
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
