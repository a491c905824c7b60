// SPDX-License-Identifier: Apache-2.0

package import DBus

/// The query of FindTasks.
///
/// Parts that are nil or empty do not restrict the result.
public struct TaskQuery: Hashable, Sendable {
    /// Only tasks in one of these states; an empty array means all states.
    public var states: [TaskProperties.State] = []
    /// Only tasks whose name or URL contains this text.
    ///
    /// Upper and lower case, and the encoding of accents, make no difference.
    public var text: String?
    /// Only tasks that the application with this id added; ``me`` stands for the caller.
    public var addedBy: String?
    /// The order of the result; nil means ``Sort/added``.
    public var sort: Sort?
    /// Whether to reverse the order.
    public var descending: Bool?
    /// The number of matching tasks to skip.
    public var offset: UInt32?
    /// The most tasks to return; nil and 0 mean ``Contract/pageOfTasks``.
    public var limit: UInt32?
    /// The properties to return of each task; an empty array means all.
    ///
    /// Other properties keep the defaults of ``TaskProperties``.
    public var properties: [TaskProperty] = []

    /// The value of ``addedBy`` for the tasks that the caller itself added.
    public static let me = "me"

    /// Creates a query that matches all tasks.
    public init() {}

    /// The order of tasks; tasks that are equal stay in the order in which they were added.
    public enum Sort: String, CaseIterable, Hashable, Sendable {
        /// The order in which they were added.
        case added
        /// The file name.
        case name
        /// The host of the URL, with its port.
        case host
        /// The size of the whole file; unknown sizes come first.
        case size
        /// The state, in the order of ``TaskProperties/State/known``.
        case state
        /// The downloaded part of the file.
        case progress
        /// The priority, lowest first.
        case priority
        /// The time until a downloading task is done, the shortest first.
        ///
        /// Tasks that are not downloading, or whose size or speed is unknown, come after all
        /// others, also in the reverse order.
        case timeLeft = "time-left"
    }
}

extension TaskQuery {
    /// The keys that the service accepts.
    private static let table = OptionTable<TaskQuery>(
        noun: "key",
        [
            .init("states", words: \.states, states),
            .init("text", \.text),
            .init("added-by", \.addedBy),
            .init("sort", word: \.sort),
            .init("descending", \.descending),
            .init("offset", \.offset),
            .init("limit", \.limit),
            .init("properties", words: \.properties, TaskProperty.all),
        ]
    )

    /// Decodes the query of a call.
    ///
    /// - Throws: `InvalidOption`; the text names the key and what it allows.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        try Self.table.read(dictionary, into: &self)
    }

    private static func states(
        _ name: OptionName,
        _ words: [String]
    ) throws(ManagerError) -> [TaskProperties.State] {
        let known = TaskProperties.State.known
        for word in words where !known.contains(TaskProperties.State(rawValue: word)) {
            let all = known.map(\.rawValue).joined(separator: ", ")
            throw name.refusal("may hold \(all), not \(QuotedText(word))")
        }
        return words.map { TaskProperties.State(rawValue: $0) }
    }

    /// The given keys as `a{sv}`.
    package var dictionary: [String: Value] { Self.table.dictionary(of: self) }
}
