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
                    adapter.methods + adapter.properties,
                    snapshot: { WireWriter(try await adapter.task($0)) }
                )
            ],
            contains: { path in
                guard let id = TaskPath(path)?.id else { return false }
                return try await handler.hasTask(id)
            },
            children: { try await handler.taskIDs() }
        )
    }

    private var methods: [Member] {
        TaskMethod.allCases.map { method in
            .method(method.memberName) { (call: Call) async throws in
                try await answer(call) { id throws(ManagerError) in
                    try await handler.carryOut(method, on: id, call: call)
                }
            }
        }
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
        guard property.isWritable else { return nil }
        return { call, value in
            try property.judge(value)
            try await answer(call) { id throws(ManagerError) in
                try await handler.set(property, of: id, to: value, call: call)
            }
        }
    }

    private func task(_ call: Call) async throws(BusError) -> TaskProperties {
        await handler.watchObjects(call: call)
        return try await answer(call) { id throws(ManagerError) in
            try await handler.getTask(id, call: call)
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
