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
        for property in properties { try encode(property, into: &object) }
    }

    private func encode(
        _ property: TaskProperty,
        into object: inout KeyedEncodingContainer<Key>
    ) throws {
        let key = Key(property)
        switch Self.content(of: property, in: task) {
        case .text(let text): try object.encode(text, forKey: key)
        case .count(let count): try object.encode(count, forKey: key)
        case .number(let number): try object.encode(number, forKey: key)
        case .share(let share): try object.encode(share, forKey: key)
        case .flag(let flag): try object.encode(flag, forKey: key)
        case .ranges(let ranges):
            try object.encode(ranges.map { [$0.first, $0.length] }, forKey: key)
        case .list(let texts): try object.encode(texts, forKey: key)
        }
    }

    /// Returns one property as text: as in JSON, but without quotes, and lists with commas.
    static func text(of property: TaskProperty, in task: TaskProperties) -> String {
        switch content(of: property, in: task) {
        case .text(let text): text
        case .count(let count): "\(count)"
        case .number(let number): "\(number)"
        case .share(let share): "\(share)"
        case .flag(let flag): "\(flag)"
        case .ranges(let ranges): ranges.map { "\($0.first)+\($0.length)" }.joined(separator: ",")
        case .list(let texts): texts.joined(separator: ",")
        }
    }

    /// The value of a property.
    private enum Content {
        case text(String)
        case count(UInt64)
        case number(Int64)
        case share(Double)
        case flag(Bool)
        case ranges([(first: UInt64, length: UInt64)])
        case list([String])
    }

    private static func content(of property: TaskProperty, in task: TaskProperties) -> Content {
        switch property {
        case .id: .text(task.id)
        case .serial: .count(task.serial)
        case .url: .text(task.url)
        case .fileName: .text(task.fileName)
        case .directory: .text(task.directory)
        case .path: .text(task.path)
        case .state: .text(task.state.rawValue)
        case .activity: .text(task.activity.rawValue)
        case .hold: .text(task.hold.rawValue)
        case .downloadedBytes: .count(task.downloadedBytes)
        case .totalBytes: .number(task.totalBytes)
        case .speed: .count(task.speed)
        // JSON has neither NaN nor infinity.
        case .progress: .share(task.progress.isFinite ? task.progress : -1)
        case .errorCode: .text(task.errorCode)
        case .errorMessage: .text(task.errorMessage)
        case .attempts: .count(UInt64(task.attempts))
        case .retryAt: .count(task.retryAt)
        case .connections: .count(UInt64(task.connections))
        case .segments: .ranges(task.byteRanges)
        case .resumable: .flag(task.resumable)
        case .priority: .number(Int64(task.priority))
        case .speedLimit: .count(task.speedLimit)
        case .maxConnections: .count(UInt64(task.maxConnections))
        case .retryFor: .count(task.retryFor)
        case .integrity: .text(task.integrity.rawValue)
        case .mimeType: .text(task.mimeType)
        case .checksum: .text(task.checksum)
        case .referrer: .text(task.referrer)
        case .mirrors: .list(task.mirrors)
        case .expectedSize: .count(task.expectedSize)
        case .userAgent: .text(task.userAgent)
        case .headerNames: .list(task.headerNames)
        case .whenDone: .text(task.whenDone)
        case .onExisting: .text(task.onExisting)
        case .addedBy: .text(task.addedBy)
        case .createdAt: .count(task.createdAt)
        case .finishedAt: .count(task.finishedAt)
        case .listedTasks: .list(task.listedTasks)
        }
    }

    private struct Key: CodingKey {
        let stringValue: String

        init(_ property: TaskProperty) { stringValue = property.rawValue }

        init?(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }

        var intValue: Int? { nil }
    }
}
