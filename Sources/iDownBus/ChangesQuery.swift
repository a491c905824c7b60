// SPDX-License-Identifier: Apache-2.0

package import DBus

/// The options of GetChangesSince.
public struct ChangesQuery: Hashable, Sendable {
    /// The list that the serial belongs to; nil means the service's present list.
    public var list: String?
    /// The properties to return of each task, in addition to Id and Serial; an empty array means
    /// all.
    public var properties: [TaskProperty] = []
    /// The most tasks in one answer; nil and 0 mean ``Contract/pageOfTasks``.
    public var limit: UInt32?
    /// The `next` of the last answer; nil for the first page.
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
    /// - Throws: `InvalidOption`; the text names the key and what it allows.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        try Self.table.read(dictionary, into: &self)
    }

    /// The given options as `a{sv}`.
    package var dictionary: [String: Value] { Self.table.dictionary(of: self) }

    /// The error for a `next` that no answer contained.
    package static var foreignPlace: ManagerError {
        OptionName("next").refusal("must be what the last answer gave for the same serial")
    }
}
