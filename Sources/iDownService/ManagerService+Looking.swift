// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownData
import iDownState
import iDownloader

// Calls that read and change nothing.
extension ManagerService {
    /// Returns one task.
    func getTask(_ call: Call, _ id: String) async throws -> TaskProperties {
        let view = await view(for: call)
        return view(try await coordinator.task(try taskID(id)))
    }

    /// Returns whether a task has this id.
    func hasTask(_ id: String) async throws -> Bool {
        guard let id = TaskID(id) else { return false }
        do {
            _ = try await coordinator.task(id)
            return true
        } catch ServiceRefusal.noSuchTask {
            return false
        }
    }

    /// Returns why a task makes no progress, one text for each reason; empty for a task that makes
    /// progress or is completed.
    func explain(_ call: Call, _ id: String) async throws -> [String] {
        try await coordinator.reasons(for: try taskID(id)).map(\.text)
    }

    /// Returns why a task makes no progress, as codes with the values from which `explain` makes
    /// its texts.
    func explainCodes(_ call: Call, _ id: String) async throws -> [TaskReason] {
        try await coordinator.reasons(for: try taskID(id)).map(\.data)
    }

    /// Returns what has happened in the attempts of a task that is not completed, the oldest first.
    func history(_ call: Call, of id: String) async throws -> [HistoryEntry] {
        try await coordinator.history(of: try await permitted(call, id).id).map(HistoryEntry.init)
    }

    /// Returns the connections that a task has open, the oldest first.
    func connections(_ call: Call, of id: String) async throws -> [[String: Value]] {
        try await coordinator.connections(of: try await permitted(call, id).id).map { connection in
            [
                "host": .string(connection.host),
                "protocol": .string(connection.protocolName),
                "first": .uint64(UInt64(clamping: connection.first)),
                "length": .int64(connection.length ?? -1),
                "speed": .uint64(UInt64(clamping: connection.speed)),
            ]
        }
    }

    // MARK: The list

    /// Sends a client signals of the tasks' objects, until it leaves the bus or unsubscribes.
    func watchObjects(_ call: Call) async {
        guard let client = call.sender else { return }
        await announcer.watch(for: client, over: call.connection)
    }

    /// Stops signals of the tasks' objects to a client.
    func unwatchObjects(_ call: Call) async {
        if let client = call.sender { await announcer.unwatch(for: client) }
    }

    // MARK: Many tasks

    /// Returns one page of the tasks that changed and were removed after a serial.
    ///
    /// - Throws: `LimitExceeded` for a serial whose changes are unknown: the client then lists all
    ///   tasks.
    func changes(
        _ call: Call,
        since serial: UInt64,
        _ query: ChangesQuery
    ) async throws -> ChangesPage {
        try await listing(call, of: query.properties) {
            try await coordinator.changes(since: serial, query, into: $0, $1)
        }
    }

    /// Returns all tasks in the order in which they were added.
    ///
    /// - Throws: `LimitExceeded` if the list is too long for an answer.
    func listTasks(_ call: Call) async throws -> TaskListing {
        try await listing(call) { try await coordinator.tasks(into: $0, $1) }
    }

    /// Returns some tasks in the order of their ids in the call, each once; unknown ids are left out.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - ids: The ids.
    ///   - properties: The properties of each task to return; an empty array means all.
    /// - Returns: The tasks.
    /// - Throws: `LimitExceeded` if the tasks are too many for an answer.
    func getTasks(
        _ call: Call,
        _ ids: [String],
        _ properties: [TaskProperty]
    ) async throws -> TaskListing {
        var known: Set<TaskID> = []
        let ids = ids.compactMap { TaskID(TaskPath.id(meantBy: $0)) }
            .filter { known.insert($0).inserted }
        // Without the id, a client could not tell which task a dictionary describes.
        let keys = properties.isEmpty ? [] : properties + [.id]
        return try await listing(call, of: keys) { try await coordinator.tasks(ids, into: $0, $1) }
    }

    /// Returns one page of the tasks that match a query, and how many match in all.
    ///
    /// - Throws: `LimitExceeded` if the page is too long for an answer.
    func findTasks(
        _ call: Call,
        _ query: TaskQuery
    ) async throws -> (page: TaskListing, total: UInt32) {
        var search = TaskSearch()
        if !query.states.isEmpty {
            search.states = Set(query.states.compactMap { TaskState.Kind(rawValue: $0.rawValue) })
        }
        if query.text != "" { search.text = query.text }
        search.order = query.sort.flatMap { .init(rawValue: $0.rawValue) } ?? .added
        search.isDescending = query.descending ?? false
        search.offset = Int(query.offset ?? 0)
        let limit = query.limit ?? 0
        search.limit = Int(limit == 0 ? Contract.pageOfTasks : limit)
        // Restricted callers see no queries, and cannot guess them by searching either.
        let caller = await callers.caller(of: call)
        search.searchesURLs = !caller.isRestricted
        search.adder = query.addedBy.map { id in
            guard id == TaskQuery.me else { return .application(id) }
            return caller.owner.map { .owner($0) } ?? .application(caller.applicationID ?? "")
        }
        let (page, total) = try await listing(call, of: query.properties) { [search] list, take in
            try await coordinator.find(search, into: list, take)
        }
        return (page, UInt32(clamping: total))
    }

    /// Makes a list of tasks when it is the caller's turn.
    ///
    /// - Parameters:
    ///   - call: The call, whose sender decides how tasks are shown.
    ///   - properties: The properties of each task to return; an empty array means all.
    ///   - make: Makes the answer from an empty list and a function that adds a task to a list.
    /// - Returns: The answer.
    /// - Throws: What `make` throws; `CancellationError` where the caller has left.
    private func listing<Answer>(
        _ call: Call,
        of properties: [TaskProperty] = [],
        _ make: (
            TaskListing, @escaping @Sendable (inout TaskListing, TaskSnapshot) throws -> Void
        ) async throws -> Answer
    ) async throws -> Answer {
        let view = await view(for: call)
        return try await inTurn(call) {
            try await make(TaskListing(of: properties)) { list, task in
                try list.append(view(task))
            }
        }
    }
}

extension HistoryEntry {
    fileprivate init(_ entry: History.Entry) {
        self.init(
            time: UInt64(max(0, entry.time.microseconds)),
            connection: UInt32(clamping: entry.connection),
            what: entry.what.rawValue,
            details: entry.details.mapValues { detail in
                switch detail {
                case .text(let text): .string(text)
                case .number(let number): .int64(number)
                case .flag(let flag): .boolean(flag)
                }
            }
        )
    }
}
