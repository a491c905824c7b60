// SPDX-License-Identifier: Apache-2.0

package import DBus
package import iDownBus

/// A change of the list as a JSON object, for programs that follow the list.
///
/// `{"Event":"added","Id":"7","Task":{…}}`, `{"Changed":{…},"Event":"changed","Id":"7",
/// "State":"…"}`, `{"Event":"removed","Id":"7"}`, `{"Event":"whole","ListId":"…","Serial":9}`,
/// `{"Event":"service","Running":false}`. The keys of `Task` and `Changed` are those of ``TaskJSON``.
package enum EventJSON: Encodable, Sendable {
    /// A task that was in the list when the command began to follow it.
    case listed(TaskProperties)
    /// A task was added to the list.
    case added(TaskProperties)
    /// A task changed: its state, and the changed properties with their new values.
    case changed(id: String, state: TaskProperties.State, changed: [String: Value])
    /// A task was removed from the list.
    case removed(id: String)
    /// All changes of a list up to this serial have been reported.
    case whole(list: String, serial: UInt64)
    /// The service started or ended.
    case service(isRunning: Bool)

    private enum Key: String, CodingKey {
        case event = "Event"
        case id = "Id"
        case state = "State"
        case task = "Task"
        case changed = "Changed"
        case running = "Running"
        case serial = "Serial"
        case list = "ListId"
    }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        switch self {
        case .listed(let task):
            try object.encode("listed", forKey: .event)
            try object.encode(task.id, forKey: .id)
            try object.encode(TaskJSON(task), forKey: .task)
        case .added(let task):
            try object.encode("added", forKey: .event)
            try object.encode(task.id, forKey: .id)
            try object.encode(TaskJSON(task), forKey: .task)
        case .changed(let id, let state, let changed):
            try object.encode("changed", forKey: .event)
            try object.encode(id, forKey: .id)
            try object.encode(state.rawValue, forKey: .state)
            let properties = TaskProperty.allCases.filter { changed[$0.rawValue] != nil }
            let task = TaskProperties().applying(changed)
            try object.encode(TaskJSON(task, only: properties), forKey: .changed)
        case .removed(let id):
            try object.encode("removed", forKey: .event)
            try object.encode(id, forKey: .id)
        case .whole(let list, let serial):
            try object.encode("whole", forKey: .event)
            try object.encode(list, forKey: .list)
            try object.encode(serial, forKey: .serial)
        case .service(let isRunning):
            try object.encode("service", forKey: .event)
            try object.encode(isRunning, forKey: .running)
        }
    }
}
