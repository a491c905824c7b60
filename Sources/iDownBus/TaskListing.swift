// SPDX-License-Identifier: Apache-2.0

public import DBus

/// Tasks on their way into an answer: coded one by one, and never more than an answer may hold.
public struct TaskListing: Sendable {
    /// What an object path and an interface's name add to a task in GetManagedObjects, in bytes.
    static let objectOverhead = 112

    private(set) var tasks: [(id: String, value: Value)] = []
    private var size = WireSize()
    private let properties: [TaskProperty]

    /// An empty list, of tasks with these properties; none named means all.
    public init(of properties: [TaskProperty] = []) {
        self.properties =
            properties.isEmpty
            ? TaskProperty.allCases : TaskProperty.allCases.filter(properties.contains)
    }

    /// How many tasks are in the list.
    public var count: Int { tasks.count }

    /// Takes one more.
    ///
    /// - Throws: `LimitExceeded` when the answer would be too long.
    public mutating func append(_ task: TaskProperties) throws(ManagerError) {
        let value = task.marshalled(properties)
        size.append(value)
        guard size.bytes + Self.objectOverhead * (tasks.count + 1) <= Contract.maximumListBytes
        else {
            throw ManagerError(
                .limitExceeded,
                "the answer would be longer than \(Contract.maximumListBytes >> 20) MiB;"
                    + " FindTasks gives the list in pages"
            )
        }
        tasks.append((task.id, value))
    }
}

/// The list as the methods of the manager give it, `aa{sv}`.
extension TaskListing: BusType {
    /// An array of dictionaries.
    public static var signature: Signature { [TaskProperties].signature }

    /// Takes a list, each task as the service knows it.
    public init(busValue: Value) throws(DecodingFailure) {
        self.init()
        for task in try [TaskProperties](busValue: busValue) {
            tasks.append((task.id, task.marshalled))
        }
    }

    /// The value to send.
    public var busValue: Value {
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
