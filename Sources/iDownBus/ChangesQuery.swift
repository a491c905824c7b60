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
}

extension ChangesQuery {
    private static let table = OptionTable<ChangesQuery>([
        .init("list", \.list),
        .init("properties", words: \.properties, TaskProperty.all),
        .init("limit", \.limit),
        .init("next", \.next),
    ])

    /// Decodes the options of a call.
    ///
    /// - Throws: `InvalidOption`; the text names the key and what would be right.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        self.init()
        try Self.table.read(dictionary, into: &self)
    }

    /// The given options as `a{sv}`.
    package var dictionary: [String: Value] { Self.table.dictionary(of: self) }

    /// The error for a `next` that no answer gave.
    package static var foreignPlace: ManagerError {
        OptionName("next").refusal("must be what the last answer gave for the same serial")
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
