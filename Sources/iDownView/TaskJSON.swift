// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// A task as a JSON object for programs; its keys are the names of the D-Bus properties.
///
/// Every key is always present and is never renamed. As on the bus, times are in µs since the epoch
/// and an unknown number is −1. A segment is a pair of its first byte and its length.
package struct TaskJSON: Encodable, Sendable {
    private let task: TaskProperties
    private let properties: [TaskProperty]

    /// Creates the object for all properties of a task, or for some of them.
    package init(_ task: TaskProperties, only properties: [TaskProperty] = TaskProperty.allCases) {
        self.task = task
        self.properties = properties
    }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        for property in properties {
            try encode(property, into: &object)
        }
    }

    private func encode(
        _ property: TaskProperty,
        into object: inout KeyedEncodingContainer<Key>
    ) throws {
        let key = Key(property)
        switch property {
        case .id: try object.encode(task.id, forKey: key)
        case .url: try object.encode(task.url, forKey: key)
        case .fileName: try object.encode(task.fileName, forKey: key)
        case .directory: try object.encode(task.directory, forKey: key)
        case .path: try object.encode(task.path, forKey: key)
        case .state: try object.encode(task.state.rawValue, forKey: key)
        case .activity: try object.encode(task.activity.rawValue, forKey: key)
        case .hold: try object.encode(task.hold.rawValue, forKey: key)
        case .downloadedBytes: try object.encode(task.downloadedBytes, forKey: key)
        case .totalBytes: try object.encode(task.totalBytes, forKey: key)
        case .speed: try object.encode(task.speed, forKey: key)
        // JSON has neither NaN nor infinity.
        case .progress: try object.encode(task.progress.isFinite ? task.progress : -1, forKey: key)
        case .errorCode: try object.encode(task.errorCode, forKey: key)
        case .errorMessage: try object.encode(task.errorMessage, forKey: key)
        case .attempts: try object.encode(task.attempts, forKey: key)
        case .retryAt: try object.encode(task.retryAt, forKey: key)
        case .connections: try object.encode(task.connections, forKey: key)
        case .segments: try object.encode(segments, forKey: key)
        case .resumable: try object.encode(task.resumable, forKey: key)
        case .priority: try object.encode(task.priority, forKey: key)
        case .speedLimit: try object.encode(task.speedLimit, forKey: key)
        case .maxConnections: try object.encode(task.maxConnections, forKey: key)
        case .retryFor: try object.encode(task.retryFor, forKey: key)
        case .integrity: try object.encode(task.integrity.rawValue, forKey: key)
        case .mimeType: try object.encode(task.mimeType, forKey: key)
        case .checksum: try object.encode(task.checksum, forKey: key)
        case .referrer: try object.encode(task.referrer, forKey: key)
        case .createdAt: try object.encode(task.createdAt, forKey: key)
        case .finishedAt: try object.encode(task.finishedAt, forKey: key)
        case .listedTasks: try object.encode(task.listedTasks, forKey: key)
        }
    }

    /// Returns one property as text: as in JSON, but without quotes, and lists with commas.
    static func text(of property: TaskProperty, in task: TaskProperties) -> String {
        switch property {
        case .id: task.id
        case .url: task.url
        case .fileName: task.fileName
        case .directory: task.directory
        case .path: task.path
        case .state: task.state.rawValue
        case .activity: task.activity.rawValue
        case .hold: task.hold.rawValue
        case .downloadedBytes: "\(task.downloadedBytes)"
        case .totalBytes: "\(task.totalBytes)"
        case .speed: "\(task.speed)"
        case .progress: "\(task.progress.isFinite ? task.progress : -1)"
        case .errorCode: task.errorCode
        case .errorMessage: task.errorMessage
        case .attempts: "\(task.attempts)"
        case .retryAt: "\(task.retryAt)"
        case .connections: "\(task.connections)"
        case .segments: task.byteRanges.map { "\($0.first)+\($0.length)" }.joined(separator: ",")
        case .resumable: "\(task.resumable)"
        case .priority: "\(task.priority)"
        case .speedLimit: "\(task.speedLimit)"
        case .maxConnections: "\(task.maxConnections)"
        case .retryFor: "\(task.retryFor)"
        case .integrity: task.integrity.rawValue
        case .mimeType: task.mimeType
        case .checksum: task.checksum
        case .referrer: task.referrer
        case .createdAt: "\(task.createdAt)"
        case .finishedAt: "\(task.finishedAt)"
        case .listedTasks: task.listedTasks.joined(separator: ",")
        }
    }

    private var segments: [[UInt64]] {
        task.byteRanges.map { [$0.first, $0.length] }
    }

    private struct Key: CodingKey {
        let stringValue: String

        init(_ property: TaskProperty) { stringValue = property.rawValue }

        init?(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }

        var intValue: Int? { nil }
    }
}
