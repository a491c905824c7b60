// SPDX-License-Identifier: Apache-2.0

import Curl
import DBus
import iDownBus
import iDownData
import iDownState
import iDownloader

// Verbs.
extension ManagerService {
    /// Saves everything and ends the service.
    func quit(_ call: Call) async throws {
        try await permit(call)
        quitting()
    }

    // MARK: Verbs

    /// Carries out a method on a task.
    func carryOut(_ call: Call, _ method: TaskMethod, on id: String) async throws {
        let (id, owner) = try await permitted(call, id)
        if method == .retry, owner != nil {
            // A finished file stays, and another one is made beside it.
            let record = try await coordinator.task(id).record
            if record.state == .completed {
                try await optionChecker(for: owner).checkFolder(of: record)
            }
        }
        try await coordinator.carryOut(Command(method), on: id)
    }

    /// Carries out a method on several tasks in one commit, and returns how many changed.
    ///
    /// - Throws: `NoSuchTask` if an id is unknown; nothing may have changed then.
    func carryOut(_ call: Call, _ method: TaskMethod, onEach ids: [String]) async throws -> UInt32 {
        let ids = try ids.map(taskID)
        try await permit(call, on: ids)
        return UInt32(clamping: try await coordinator.carryOut(Command(method), on: ids))
    }

    /// Carries out a method on all tasks that it is meant for, in one commit, and returns how many
    /// changed.
    func carryOutOnAll(_ call: Call, _ method: TaskMethod) async throws -> UInt32 {
        try await permit(call)
        let command = Command(method)
        return UInt32(
            clamping: try await coordinator.carryOut(command, onAllIn: command.statesOfAll)
        )
    }

    /// Removes several tasks from the list; finished files stay or go to the trash.
    func removeTasks(
        _ call: Call,
        _ ids: [String],
        _ options: RemoveOptions
    ) async throws -> UInt32 {
        guard options.trashFiles == true else {
            return try await carryOut(call, .remove, onEach: ids)
        }
        let ids = try ids.map(taskID)
        try await permit(call, on: ids)
        // A disk may never answer, which must not hold up the client's next calls.
        call.makeWay()
        let count = try await coordinator.remove(ids, trashingWith: folders.dataHome)
        return UInt32(clamping: count)
    }

    // MARK: One task

    /// Gives a task a fresh link; its bytes are kept if the link leads to the same file.
    func setURL(_ call: Call, of id: String, to url: String) async throws {
        var options = EditOptions()
        options.url = url
        try await setOptions(call, of: id, options)
    }

    /// Changes options of a task, all of them or none.
    func setOptions(_ call: Call, of id: String, _ options: EditOptions) async throws {
        let (id, owner) = try await permitted(call, id)
        try await afterEarlierChanges(of: id) {
            let checker = optionChecker(for: owner)
            // Refuse options that cannot change now, before the folder is created.
            let record = try await coordinator.task(id).record
            if !record.isPublishing { try record.check(options.options) }
            let edit = try await checker.judge(options, for: record)
            if record.state == .completed, edit.wantedPlace(of: record) != nil {
                try await checkPresence(of: record)
            }
            try await coordinator.edit(id, edit)
        }
    }

    /// Makes a change of a task after those that were called before.
    ///
    /// Some changes look at the disk first, and later ones would overtake them.
    private func afterEarlierChanges(
        of id: TaskID,
        _ body: () async throws -> Void
    ) async throws {
        if changes[id] == nil {
            changes[id] = []
        } else {
            await withCheckedContinuation { changes[id]?.append($0) }
        }
        defer {
            if changes[id]?.isEmpty == false {
                changes[id]?.removeFirst().resume()
            } else {
                changes[id] = nil
            }
        }
        try await body()
    }

    /// Refuses to move a finished file that is gone, before any other change is stored.
    private func checkPresence(of record: TaskRecord) async throws {
        let engine = engine
        let isGone = await engine.look(in: record.request.directory) {
            await engine.isGone(fileOf: record)
        }
        // A move that another call has begun may have taken it along.
        let now = try await coordinator.task(record.id).record
        guard isGone == true, !now.isMoving, now.file == record.file,
            now.request.directory == record.request.directory
        else { return }
        throw ServiceRefusal.staysInPlace(.goneBeforeMove, record.displayName)
    }

    /// Changes the place of a task in the queue.
    func setPriority(_ call: Call, of id: String, to priority: Int32) async throws {
        var options = EditOptions()
        options.values.priority = priority
        try await setOptions(call, of: id, options)
    }

    /// Sets a writable property of a task to a value, which has to be within its range.
    func set(_ call: Call, _ property: TaskProperty, of id: String, to value: Value) async throws {
        try property.judge(value)
        let id = try taskID(id)
        // Only the user's own programs may set properties, even those of tasks.
        try await permit(call)
        var edit = TaskEdit()
        switch (property, value) {
        case (.priority, .int32(let priority)): edit.priority = priority
        case (.speedLimit, .uint64(let limit)): edit.speedLimit = Int64(clamping: limit)
        case (.maxConnections, .uint32(let count)):
            edit.connections = .some(count == 0 ? nil : Int(count))
        default: break
        }
        try await afterEarlierChanges(of: id) { try await coordinator.set(edit, of: id) }
    }

    /// Waits until a task is completed, failed, cancelled or removed, and returns the word for
    /// that.
    func wait(_ call: Call, for id: String) async throws -> String {
        let id = try taskID(id)
        let owner = await callers.caller(of: call).owner
        call.endWithCaller()
        let client = call.sender?.rawValue ?? ""
        let end = try await coordinator.end(of: id, for: client, of: owner)
        return end?.rawValue ?? Contract.removed
    }

    /// Reads a finished file again, and returns the word for its integrity.
    func verify(_ call: Call, _ id: String) async throws -> String {
        let (id, owner) = try await permitted(call, id)
        call.endWithCaller()
        return try await coordinator.verify(id, for: owner).rawValue
    }
}

extension EditOptions {
    /// The options that are given.
    fileprivate var options: [TaskEdit.Option] { dictionary.keys.compactMap(TaskEdit.Option.init) }
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

extension ManagerService {
    /// Opens the file of a task for reading; a sandboxed caller gets a pipe with the file's bytes.
    func openFile(_ call: Call, of id: String) async throws -> OpenDescriptor {
        let (id, owner) = try await permitted(call, id)
        let record = try await coordinator.task(id).record
        if owner != nil, record.state != .completed {
            throw Refusal.unfinished(record.state.kind)
        }
        let engine = engine
        let found = try await engine.look(in: record.request.directory) {
            try await engine.open(record, for: owner)
        }
        guard let found else { throw ServiceRefusal.diskIsStuck }
        guard let file = found else {
            throw ManagerError(.invalidState, "Nothing of the task's file is in its folder.")
        }
        return file
    }
}

extension Engine {
    /// Opens a task's file for its owner in a sandbox, or for a caller that may read it anyway.
    fileprivate func open(
        _ record: TaskRecord,
        for owner: String?
    ) async throws -> OpenDescriptor? {
        let number: Int32?
        if let owner {
            number = try await feedFile(of: record, to: owner)
        } else {
            number = try await openFile(of: record)
        }
        return number.map { OpenDescriptor(owning: $0) }
    }
}
