// SPDX-License-Identifier: Apache-2.0

package import DBus

/// The tasks of an answer, encoded one by one and never longer than an answer may be.
package struct TaskListing: Sendable {
    /// The bytes that an object path and an interface name add per task in GetManagedObjects.
    static let objectOverhead = 112

    private(set) var tasks: [(id: String, value: Value)] = []
    private var size = WireSize()
    private let properties: [TaskProperty]

    /// Creates an empty list of tasks with these properties; an empty array means all properties.
    package init(of properties: [TaskProperty] = []) {
        self.properties =
            properties.isEmpty
            ? TaskProperty.allCases : TaskProperty.allCases.filter(properties.contains)
    }

    /// How many tasks are in the list.
    package var count: Int { tasks.count }

    /// Appends a task.
    ///
    /// - Throws: `LimitExceeded` if the answer would be longer than ``Contract/maximumListBytes``.
    package mutating func append(_ task: TaskProperties) throws(ManagerError) {
        let value = task.marshalled(properties)
        size.append(value)
        guard size.bytes + Self.objectOverhead * (tasks.count + 1) <= Contract.maximumListBytes
        else {
            throw ManagerError(
                .limitExceeded,
                "The answer would be longer than \(Contract.maximumListBytes >> 20) MiB. Ask for the"
                    + " list in pages with FindTasks."
            )
        }
        tasks.append((task.id, value))
    }
}

/// The list as the methods of the manager return it, `aa{sv}`.
extension TaskListing: BusType {
    /// An array of dictionaries.
    package static var signature: Signature { [TaskProperties].signature }

    /// Decodes a list.
    package init(busValue: Value) throws(DecodingFailure) {
        self.init()
        for task in try [TaskProperties](busValue: busValue) {
            tasks.append((task.id, task.marshalled))
        }
    }

    /// The value to send.
    package var busValue: Value {
        .array(of: TaskProperties.signature, tasks.map(\.value))
    }
}

extension TaskListing {
    /// The same tasks as objects, for GetManagedObjects.
    var objects: [ManagedObject] {
        tasks.compactMap { task in
            guard let path = TaskPath(id: task.id) else { return nil }
            return ManagedObject(
                path.objectPath,
                [(Contract.taskInterface, task.value)]
            )
        }
    }
}
