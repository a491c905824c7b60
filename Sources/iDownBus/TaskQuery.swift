// SPDX-License-Identifier: Apache-2.0

/// What FindTasks looks for; what is nil or empty is left out.
public struct TaskQuery: Hashable, Sendable {
    /// Tasks in one of these states; none given means all.
    public var states: [TaskProperties.State] = []
    /// What the name or the URL holds; case makes no difference.
    public var text: String?
    /// The order of the answer; of adding if none is given.
    public var sort: Sort?
    /// The other way round.
    public var descending: Bool?
    /// So many of the tasks found are passed over.
    public var offset: UInt32?
    /// The most tasks in the answer; 0 or none is 1,000.
    public var limit: UInt32?
    /// What is told of each task; none given means all.
    ///
    /// What is not told keeps the value of a task of which nothing is known yet.
    public var properties: [TaskProperty] = []

    /// Looks for all tasks.
    public init() {}

    /// By what tasks are ordered; equal ones stand in the order of adding.
    public enum Sort: String, CaseIterable, Hashable, Sendable {
        /// The order of adding.
        case added
        /// The file's name.
        case name
        /// The size of the whole file, unknown ones first.
        case size
        /// The state, in the contract's order.
        case state
        /// The part that is there.
        case progress
        /// The priority.
        case priority
    }
}

extension TaskQuery {
    /// The keys that the service takes.
    enum Key: String, CaseIterable {
        case states
        case text
        case sort
        case descending
        case offset
        case limit
        case properties
    }
}
