// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownState

/// The interface `org.idown.Task1` as a table for all tasks; the path of a call names the task.
///
/// It has the same members in the same order as `dbus/org.idown.Task1.xml`.
struct TaskInterface: Sendable {
    let service: ManagerService

    /// Returns the objects of all tasks, to export below ``TaskPath/parent``.
    static func subtree(for service: ManagerService) -> Subtree {
        let adapter = TaskInterface(service: service)
        return Subtree(
            [
                Interface(
                    Contract.taskInterface,
                    adapter.methods + adapter.properties,
                    errors: { error, call in
                        let error = service.wording(error, call)
                        // A task that does not exist has no object.
                        return error.name == ManagerError.Code.noSuchTask.name
                            ? .unknownObject("There is no task at \(call.path).") : error
                    },
                    snapshot: { WireWriter(try await adapter.task($0)) }
                )
            ],
            contains: { path in
                guard let id = TaskPath.id(at: path) else { return false }
                return try await service.hasTask(id)
            },
            children: { try await service.coordinator.taskIDs().map(\.description) }
        )
    }

    private var methods: [Member] {
        TaskMethod.allCases.map { method in
            .method(method.memberName) { (call: Call) in
                try await service.carryOut(call, method, on: id(call))
            }
        }
    }

    private var properties: [Member] {
        TaskProperty.allCases.map { property in
            var setter: (@Sendable (Call, Value) async throws -> Void)?
            if property.isWritable {
                setter = { try await service.set($0, property, of: id($0), to: $1) }
            }
            return .property(
                property.memberName,
                type: property.signature,
                property.changeSignal,
                now: { call in
                    service.taskNow(call, id(call), isObject: true)?.variant(of: property)
                },
                get: { try await task($0).variant(of: property) },
                set: setter
            )
        }
    }

    private func task(_ call: Call) async throws -> TaskProperties {
        await service.watchObjects(call)
        return try await service.getTask(call, id(call))
    }

    private func id(_ call: Call) -> String { TaskPath.id(at: call.path) ?? call.path.rawValue }
}
