// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// The changes of the list since a serial.
public struct ListChanges: Hashable, Sendable {
    /// The serial for the next question.
    public var serial: UInt64
    /// The tasks that changed or were added.
    public var tasks: [TaskProperties]
    /// The ids of the tasks that were removed.
    public var removed: [String]
}

extension ManagerClient {
    /// Returns all changes since a serial, by asking for page after page.
    ///
    /// - Parameters:
    ///   - serial: The serial of the last answer; 0 returns all tasks.
    ///   - list: The list that the serial belongs to; nil means the service's present one.
    ///   - properties: The properties to return, in addition to Id and Serial; an empty array means
    ///     all.
    /// - Returns: The changes; a task that changed during the call appears once, in its last state.
    /// - Throws: `LimitExceeded` if the changes are not known any more: ask for those since 0.
    public func changes(
        since serial: UInt64,
        of list: String? = nil,
        properties: [TaskProperty] = []
    ) async throws(ManagerError) -> ListChanges {
        var query = ChangesQuery()
        query.list = list
        query.properties = properties
        query.limit = .max
        var places: [String: Int] = [:]
        var changes = ListChanges(serial: serial, tasks: [], removed: [])
        repeat {
            let page = try await page(of: query, since: serial)
            for task in page.tasks {
                if let place = places[task.id] {
                    changes.tasks[place] = task
                } else {
                    places[task.id] = changes.tasks.count
                    changes.tasks.append(task)
                }
            }
            changes.serial = page.serial
            changes.removed = page.removed
            query.next = page.next
        } while query.next?.isEmpty == false
        let gone = Set(changes.removed)
        if !gone.isEmpty { changes.tasks.removeAll { gone.contains($0.id) } }
        return changes
    }

    /// Returns one page of the changes since a serial.
    func page(
        of query: ChangesQuery,
        since serial: UInt64
    ) async throws(ManagerError) -> (
        serial: UInt64, next: String, tasks: [TaskProperties], removed: [String]
    ) {
        try await call(
            Contract.Method.getChangesSince,
            serial,
            query.dictionary,
            returning: UInt64.self,
            String.self,
            [TaskProperties].self,
            [String].self
        )
    }

    /// Returns the id of the list of tasks, which changes when the list is created again or
    /// restored.
    public func listID() async throws(ManagerError) -> String {
        try await get(Contract.Property.listID)
    }

    /// Returns the serial of the newest commit that changed tasks.
    public func serial() async throws(ManagerError) -> UInt64 {
        try await get(Contract.Property.serial)
    }

    /// Makes the objects of tasks announce their changes to the whole bus, until this connection
    /// ends.
    public func subscribe() async throws(ManagerError) { try await call(Contract.Method.subscribe) }
}
