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
        try await reading(call) { try $0.changes(since: serial, query, $1) }
    }

    /// Returns all tasks in the order in which they were added.
    ///
    /// - Throws: `LimitExceeded` if the list is too long for an answer.
    func listTasks(_ call: Call) async throws -> TaskListing {
        try await reading(call) { list, view in
            var listing = TaskListing()
            try list.forEachTask { record in
                try listing.append(view(record))
                return true
            }
            return listing
        }
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
        return try await reading(call) { list, view in
            var listing = TaskListing(of: properties)
            try list.forEachTask(of: ids) { record in
                try listing.append(view(record))
                return true
            }
            return listing
        }
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
        return try await reading(call) { [search] list, view in
            var (search, page) = (search, TaskListing(of: query.properties))
            if search.order == .timeLeft {
                let running = try list.runningByTimeLeft(view)
                search.first = search.isDescending ? running.reversed() : running
            } else if search.order == .progress {
                search.progress = try list.progressOfRunning(view)
            }
            let total = try list.forEachFound(search) { record in
                try page.append(view(record))
                return true
            }
            return (page, UInt32(clamping: total))
        }
    }

    /// Reads the list when it is the caller's turn.
    ///
    /// - Parameters:
    ///   - call: The call, whose sender decides how tasks are shown.
    ///   - body: Makes the answer from the list and a function that returns a task as the caller
    ///     sees it.
    /// - Returns: The answer.
    /// - Throws: What `body` throws; `CancellationError` where the caller has left.
    private func reading<Answer: Sendable>(
        _ call: Call,
        _ body: @escaping @Sendable (Snapshot, (TaskRecord) -> TaskProperties) throws -> Answer
    ) async throws -> Answer {
        let view = await view(for: call)
        return try await inTurn(call) {
            try await coordinator.read { list, now in try body(list) { view(now($0)) } }
        }
    }
}

extension Snapshot {
    /// Returns the running tasks whose time left is known, the shortest first.
    fileprivate func runningByTimeLeft(
        _ view: (TaskRecord) -> TaskProperties
    ) throws -> [TaskID] {
        var found: [(left: Double, id: TaskID)] = []
        try forEachTask(in: .downloading) { record in
            if let left = view(record).timeLeft { found.append((left, record.id)) }
            return true
        }
        return found.sorted { $0 < $1 }.map(\.id)
    }

    fileprivate func progressOfRunning(
        _ view: (TaskRecord) -> TaskProperties
    ) throws -> [TaskID: Double] {
        var progress: [TaskID: Double] = [:]
        try forEachTask(in: .downloading) { record in
            progress[record.id] = view(record).progress
            return true
        }
        return progress
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
