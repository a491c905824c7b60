// SPDX-License-Identifier: Apache-2.0

public import DBus

/// A signal of the service about one task.
public enum ManagerEvent: Hashable, Sendable {
    /// A task is in the list. Its URL and its referrer have no query.
    case added(TaskProperties)
    /// A task changed: its state now, and the properties that changed with their new values.
    ///
    /// ``TaskProperties/applying(_:)`` applies them to a known task.
    case changed(id: String, state: TaskProperties.State, changed: [String: Value])
    /// A task was removed from the list.
    case removed(id: String)

    /// The id of the task.
    public var id: String {
        switch self {
        case .added(let task): task.id
        case .changed(let id, _, _): id
        case .removed(let id): id
        }
    }
}

extension ManagerEvent {
    /// The name of the signal.
    public var member: MemberName {
        switch self {
        case .added: Contract.Signal.taskAdded
        case .changed: Contract.Signal.taskChanged
        case .removed: Contract.Signal.taskRemoved
        }
    }

    /// The arguments of the signal.
    public var arguments: [Value] {
        switch self {
        case .added(let task): [.string(task.id), task.busValue]
        case .changed(let id, let state, let changed):
            [.string(id), state.busValue, changed.busValue]
        case .removed(let id): [.string(id)]
        }
    }

    /// Decodes a signal; nil for one that this version does not know.
    public init?(_ member: MemberName, _ arguments: [Value]) {
        guard case .string(let id) = arguments.first else { return nil }
        switch member {
        case Contract.Signal.taskAdded:
            guard arguments.count == 2, var task = try? TaskProperties(busValue: arguments[1])
            else { return nil }
            task.id = id
            self = .added(task)
        case Contract.Signal.taskChanged:
            guard arguments.count == 3, case .string(let state) = arguments[1],
                let changed = try? [String: Value](busValue: arguments[2])
            else { return nil }
            self = .changed(id: id, state: .init(rawValue: state), changed: changed)
        case Contract.Signal.taskRemoved:
            self = .removed(id: id)
        default:
            return nil
        }
    }
}
