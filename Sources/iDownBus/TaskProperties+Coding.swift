// SPDX-License-Identifier: Apache-2.0

public import DBus

extension TaskProperties: BusType {
    /// A dictionary, `a{sv}`.
    public static var signature: Signature { [String: Value].signature }

    /// Decodes a dictionary; unknown keys are ignored, and missing ones keep their defaults.
    public init(busValue: Value) throws(DecodingFailure) {
        guard case .dictionary(Self.keyType, Self.valueType, let entries) = busValue else {
            throw DecodingFailure(
                "expected type a{sv}, found \(busValue.signature)"
            )
        }
        self.init()
        // Without a dictionary in between, because lists are long.
        for entry in entries {
            guard case .string(let key) = entry.key, case .variant(let content) = entry.value
            else { continue }
            TaskProperty.column(named: key)?.write(&self, content)
        }
    }

    private static let keyType: Signature = "s"
    private static let valueType: Signature = "v"

    /// The whole task, with keys in the order of ``TaskProperty``.
    public var busValue: Value {
        .dictionary(
            key: String.signature,
            value: Value.signature,
            TaskProperty.allCases.map { property in
                Value.Entry(key: .string(property.rawValue), value: .variant(self[property]))
            }
        )
    }
}

extension TaskProperties {
    /// Decodes a dictionary; unknown keys and values of a wrong type are ignored.
    public init(_ dictionary: [String: Value]) {
        self.init()
        apply(dictionary)
    }

    /// Returns the task with the changes of a TaskChanged signal applied.
    public func applying(_ changed: [String: Value]) -> TaskProperties {
        var task = self
        task.apply(changed)
        return task
    }

    private mutating func apply(_ changed: [String: Value]) {
        for (key, value) in changed {
            TaskProperty.column(named: key)?.write(&self, value)
        }
    }

    /// Returns some properties in their encoded form, which can only be sent, and which is made
    /// much faster than ``busValue``.
    package func marshalled(_ properties: [TaskProperty]) -> Value {
        // About 40 bytes each for the key and a short value; only the URL is long.
        var dictionary = MarshalledDictionary(reserving: properties.count * 40 + url.utf8.count)
        for property in properties { dictionary.append(property.rawValue, self[property]) }
        return .marshalled(dictionary)
    }

    /// The whole task in its encoded form, which can only be sent.
    package var marshalled: Value { marshalled(TaskProperty.allCases) }

    /// The whole task as a dictionary.
    public var dictionary: [String: Value] {
        dictionary(of: TaskProperty.allCases)
    }

    /// Returns some properties as a dictionary.
    public func dictionary(of properties: some Sequence<TaskProperty>) -> [String: Value] {
        var dictionary: [String: Value] = [:]
        for property in properties { dictionary[property.rawValue] = self[property] }
        return dictionary
    }

    /// Returns the properties that changed since an earlier state, in the order of
    /// ``TaskProperty``.
    package func properties(changedSince before: TaskProperties) -> [TaskProperty] {
        TaskProperty.all.filter { !$0.column.isEqual(self, before) }.map(\.property)
    }

    /// The task as everybody on the bus may see it: the URL and the referrer have no query and no
    /// fragment, because sites put secrets there.
    package var withoutQueries: TaskProperties {
        var task = self
        task.url = Self.withoutQuery(url)
        task.referrer = Self.withoutQuery(referrer)
        return task
    }

    private static func withoutQuery(_ url: String) -> String {
        // By bytes, because "?" and a combining mark after it are one Character.
        String(
            Substring(url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        )
    }
}

extension TaskProperties {
    /// The value of a property.
    ///
    /// It is a switch, because a table of key paths would cost more than everything else that is
    /// done with a task.
    public subscript(property: TaskProperty) -> Value {
        switch property {
        case .id: id.busValue
        case .url: url.busValue
        case .fileName: fileName.busValue
        case .directory: directory.busValue
        case .path: path.busValue
        case .state: state.busValue
        case .activity: activity.busValue
        case .hold: hold.busValue
        case .downloadedBytes: downloadedBytes.busValue
        case .totalBytes: totalBytes.busValue
        case .speed: speed.busValue
        case .progress: progress.busValue
        case .errorCode: errorCode.busValue
        case .errorMessage: errorMessage.busValue
        case .attempts: attempts.busValue
        case .retryAt: retryAt.busValue
        case .connections: connections.busValue
        case .segments: segments.busValue
        case .resumable: resumable.busValue
        case .priority: priority.busValue
        case .speedLimit: speedLimit.busValue
        case .maxConnections: maxConnections.busValue
        case .retryFor: retryFor.busValue
        case .integrity: integrity.busValue
        case .mimeType: mimeType.busValue
        case .checksum: checksum.busValue
        case .referrer: referrer.busValue
        case .createdAt: createdAt.busValue
        case .finishedAt: finishedAt.busValue
        case .listedTasks: listedTasks.busValue
        }
    }
}
