// SPDX-License-Identifier: Apache-2.0

public import DBus

/// A signal of the service about one task.
public enum ManagerEvent: Hashable, Sendable {
    /// A task was added to the list. Its URL and its referrer have no query.
    case added(TaskProperties)
    /// A task changed: its new state, and the changed properties with their new values.
    ///
    /// ``TaskProperties/applying(_:)`` applies these values to a known task.
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
    /// Reads a signal; nil for one that this version does not know.
    package init?(_ signal: SignalMessage) {
        typealias Known = Contract.Signal
        if let (id, state, changed) = Known.taskChanged.contents(of: signal) {
            self = .changed(id: id, state: state, changed: changed)
        } else if let (id, properties) = Known.taskAdded.contents(of: signal) {
            var task = properties
            task.id = id
            self = .added(task)
        } else if let id = Known.taskRemoved.contents(of: signal) {
            self = .removed(id: id)
        } else {
            return nil
        }
    }
}
