// SPDX-License-Identifier: Apache-2.0

package import DBus

/// What GetChangesSince is asked for.
public struct ChangesQuery: Hashable, Sendable {
    /// The list that the serial belongs to; nil means this one.
    public var list: String?
    /// The properties to return of each task, beside Id and Serial; an empty array means all.
    public var properties: [TaskProperty] = []
    /// The most tasks in one answer; nil and 0 mean ``Contract/pageOfTasks``.
    public var limit: UInt32?
    /// Where the last answer ended, as it said.
    public var next: String?

    /// Creates a query for the first page with all properties.
    public init() {}

    enum Key: String, OptionKey {
        case list
        case properties
        case limit
        case next
    }
}

extension ChangesQuery {
    /// Decodes the options of a call.
    ///
    /// - Throws: `InvalidOption`; the text names the key and what would be right.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        self.init()
        try Key.forEach(in: dictionary) { (key, value) throws(ManagerError) in
            switch key {
            case .list: list = try key.read(value)
            case .properties: properties = try TaskProperty.all(named: try key.read(value))
            case .limit: limit = try key.read(value)
            case .next: next = try key.read(value)
            }
        }
    }

    /// The given options as `a{sv}`.
    package var dictionary: [String: Value] {
        var dictionary: [String: Value] = [:]
        dictionary[Key.list.rawValue] = list?.busValue
        if !properties.isEmpty {
            dictionary[Key.properties.rawValue] = properties.map(\.rawValue).busValue
        }
        dictionary[Key.limit.rawValue] = limit?.busValue
        dictionary[Key.next.rawValue] = next?.busValue
        return dictionary
    }

    /// The error for a `next` that no answer gave.
    package static var foreignPlace: ManagerError {
        Key.next.refusal("must be what the last answer gave for the same serial")
    }
}

/// One page of what has changed since a serial.
package struct ChangesPage: Sendable {
    /// The newest serial; what follows is whole up to it once `next` is empty.
    package var serial: UInt64
    /// Where the next page begins; empty where this was the last one.
    package var next: String
    /// The tasks that changed, in the order of their last changes.
    package var tasks: TaskListing
    /// The tasks that were removed; on the last page.
    package var removed: [String]

    /// Puts a page together.
    package init(serial: UInt64, next: String, tasks: TaskListing, removed: [String]) {
        self.serial = serial
        self.next = next
        self.tasks = tasks
        self.removed = removed
    }
}
