// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// The interface `org.idown.Task1` as a table for all tasks; the called path tells which task is
/// meant.
///
/// It has the same members in the same order as `dbus/org.idown.Task1.xml`.
struct TaskInterface: Sendable {
    let handler: any ManagerHandling

    /// Returns the objects of all tasks, to export below ``TaskPath/parent``.
    static func subtree(for handler: any ManagerHandling) -> Subtree {
        let adapter = TaskInterface(handler: handler)
        return Subtree(
            [
                Interface(
                    Contract.taskInterface,
                    adapter.verbs + adapter.properties,
                    snapshot: { try await adapter.task($0).dictionary }
                )
            ],
            contains: { path in
                guard let id = TaskPath(path)?.id else { return false }
                return try await handler.hasTask(id)
            },
            children: { try await handler.taskIDs() }
        )
    }

    private var verbs: [Member] {
        typealias Name = Contract.Method
        return [
            verb(Name.pause) { (id, call) throws(ManagerError) in
                try await handler.pause(id, call: call)
            },
            verb(Name.resume) { (id, call) throws(ManagerError) in
                try await handler.resume(id, call: call)
            },
            verb(Name.retry) { (id, call) throws(ManagerError) in
                try await handler.retry(id, call: call)
            },
            verb(Name.cancel) { (id, call) throws(ManagerError) in
                try await handler.cancel(id, call: call)
            },
            verb(Name.remove) { (id, call) throws(ManagerError) in
                try await handler.remove(id, call: call)
            },
        ]
    }

    private var properties: [Member] {
        TaskProperty.allCases.map { property in
            .property(
                property.memberName,
                type: property.signature,
                property.changeSignal,
                get: { try await task($0)[property] },
                set: setter(of: property)
            )
        }
    }

    /// Returns how to set a property; nil for a read-only one.
    private func setter(
        of property: TaskProperty
    ) -> (@Sendable (Call, Value) async throws -> Void)? {
        if property == .priority { return setPriority }
        if property == .speedLimit { return setSpeedLimit }
        return property == .maxConnections ? setMaxConnections : nil
    }

    private func setPriority(_ call: Call, to value: Value) async throws {
        guard case .int32(let priority) = value else {
            throw BusError.invalidArguments("Priority must be of type i.")
        }
        try await answer(call) { id throws(ManagerError) in
            try await handler.setPriority(priority, of: id, call: call)
        }
    }

    private func setSpeedLimit(_ call: Call, to value: Value) async throws {
        guard case .uint64(let limit) = value else {
            throw BusError.invalidArguments("SpeedLimit must be of type t.")
        }
        guard Contract.speedLimit.contains(limit) else {
            throw BusError.invalidArguments(
                "SpeedLimit must be at most \(Contract.speedLimit.upperBound), not \(limit)."
            )
        }
        try await answer(call) { id throws(ManagerError) in
            try await handler.setSpeedLimit(limit, of: id, call: call)
        }
    }

    private func setMaxConnections(_ call: Call, to value: Value) async throws {
        guard case .uint32(let count) = value else {
            throw BusError.invalidArguments("MaxConnections must be of type u.")
        }
        let range = Contract.maxConnections
        guard range.contains(count) else {
            throw BusError.invalidArguments(
                "MaxConnections must be \(range.lowerBound) to \(range.upperBound), not \(count)."
            )
        }
        try await answer(call) { id throws(ManagerError) in
            try await handler.setMaxConnections(count, of: id, call: call)
        }
    }

    private func task(_ call: Call) async throws(BusError) -> TaskProperties {
        try await answer(call) { id throws(ManagerError) in
            try await handler.getTask(id, call: call)
        }
    }

    private func verb(
        _ name: MemberName,
        _ body: @escaping @Sendable (String, Call) async throws(ManagerError) -> Void
    ) -> Member {
        .method(name) { (call: Call) async throws in
            try await answer(call) { id throws(ManagerError) in try await body(id, call) }
        }
    }

    /// Runs a body with the id of the called task; a task that does not exist is an unknown object.
    ///
    /// Never inlined, because Swift 6.3's optimizer crashes on it in the setters (coroutine
    /// splitting).
    @inline(never)
    private func answer<Output: Sendable>(
        _ call: Call,
        _ body: (String) async throws(ManagerError) -> Output
    ) async throws(BusError) -> Output {
        guard let id = TaskPath.id(at: call.path) else { throw Self.absent(call) }
        do throws(ManagerError) {
            return try await body(id)
        } catch {
            throw error.code == .noSuchTask ? Self.absent(call) : error.busError
        }
    }

    private static func absent(_ call: Call) -> BusError {
        .unknownObject("There is no task at \(call.path).")
    }
}
