// SPDX-License-Identifier: Apache-2.0

package import DBus
package import iDownBus
import iDownData
import iDownState
import iDownloader

extension ManagerService {
    // MARK: Selections

    package func removeTasks(
        _ ids: [String],
        options: RemoveOptions,
        call: Call
    ) async throws(ManagerError) -> UInt32 {
        guard options.trashFiles == true else {
            return try await carryOut(.remove, onEach: ids, call: call)
        }
        return try await named {
            let ids = try ids.map(taskID)
            try await permit(call, on: ids)
            let count = try await coordinator.remove(ids, trashingWith: folders.dataHome)
            return UInt32(clamping: count)
        }
    }

    // MARK: One task

    package func setPriority(
        _ priority: Int32,
        of id: String,
        call: Call
    ) async throws(ManagerError) {
        try await named {
            let id = try taskID(id)
            try await permit(call, on: [id])
            try await coordinator.setPriority(priority, of: id)
        }
    }

    package func set(
        _ property: TaskProperty,
        of id: String,
        to value: Value,
        call: Call
    ) async throws(ManagerError) {
        try await named {
            let id = try taskID(id)
            // Properties are for the user's own programs to set, also those of a task.
            try await permit(call)
            switch (property, value) {
            case (.priority, .int32(let priority)):
                try await coordinator.setPriority(priority, of: id)
            case (.speedLimit, .uint64(let limit)):
                try await coordinator.setSpeedLimit(of: id, to: Int64(clamping: limit))
            case (.maxConnections, .uint32(let count)):
                try await coordinator.setConnections(of: id, to: count == 0 ? nil : Int(count))
            default: break
            }
        }
    }

    package func explain(_ id: String, call: Call) async throws(ManagerError) -> [String] {
        try await named { try await coordinator.reasons(for: try taskID(id)).map(\.text) }
    }

    package func explainCodes(_ id: String, call: Call) async throws(ManagerError) -> [TaskReason] {
        try await named { try await coordinator.reasons(for: try taskID(id)).map(\.data) }
    }

    package func history(
        of id: String,
        call: Call
    ) async throws(ManagerError) -> [HistoryEntry] {
        try await named { try await coordinator.history(of: try taskID(id)).map(HistoryEntry.init) }
    }

    package func connections(
        of id: String,
        call: Call
    ) async throws(ManagerError) -> [[String: Value]] {
        try await named {
            try await coordinator.connections(of: try taskID(id)).map { connection in
                [
                    "host": .string(connection.host),
                    "protocol": .string(connection.protocolName),
                    "first": .uint64(UInt64(clamping: connection.first)),
                    "length": .int64(connection.length ?? -1),
                    "speed": .uint64(UInt64(clamping: connection.speed)),
                ]
            }
        }
    }

    package func wait(for id: String, call: Call) async throws(ManagerError) -> String {
        try await named {
            let id = try taskID(id)
            let client = call.sender?.rawValue ?? ""
            let owner = await callers.caller(of: call).owner
            let departure = watch(call)
            defer { departure.map { unwatch($0, of: client) } }
            let end = try await coordinator.end(of: id, for: client, of: owner)
            return end?.rawValue ?? Contract.removed
        }
    }

    package func verify(_ id: String, call: Call) async throws(ManagerError) -> String {
        try await named {
            let id = try taskID(id)
            try await permit(call, on: [id])
            let client = call.sender?.rawValue ?? ""
            let departure = watch(call)
            defer { departure.map { unwatch($0, of: client) } }
            return try await coordinator.verify(id, for: client).rawValue
        }
    }

    /// Has the pending calls of a client dropped when it leaves the bus.
    private func watch(_ call: Call) -> Departure? {
        guard let sender = call.sender else { return nil }
        if let departure = departures[sender.rawValue] {
            departure.calls += 1
            return departure
        }
        let watch = Task {
            // Without a rule of its own the client's calls stay, within their limit.
            let caller = Proxy(call.connection, sender, "/", "org.freedesktop.DBus.Peer")
            guard (try? await caller.waitUntilGone()) != nil, !Task.isCancelled else { return }
            await coordinator.forgetWaits(of: sender.rawValue)
        }
        let departure = Departure(watch)
        departures[sender.rawValue] = departure
        return departure
    }

    /// Ends the watch with the last call that waits.
    private func unwatch(_ departure: Departure, of client: String) {
        departure.calls -= 1
        guard departure.calls == 0 else { return }
        departure.watch.cancel()
        // On a later bus the name may mean another client.
        if departures[client] === departure { departures[client] = nil }
    }

    /// Prepares for the clients of a bus, before the service takes its name there.
    ///
    /// The clients of an earlier bus are gone with it, and their names mean others on this one.
    ///
    /// - Parameter connection: The service's connection to the bus.
    /// - Throws: What the bus answers.
    package func willServe(over connection: Connection) async throws(BusError) {
        try await callers.listen(on: connection)
        for departure in departures.values { departure.watch.cancel() }
        departures = [:]
    }

    // MARK: Many tasks

    package func getTasks(
        _ ids: [String],
        of properties: [TaskProperty],
        call: Call
    ) async throws(ManagerError) -> TaskListing {
        try await named {
            let ids = ids.compactMap(TaskID.init)
            let view = await view(for: call)
            // Without its id nobody could tell which task a dictionary is of.
            let keys = properties.isEmpty ? [] : properties + [.id]
            return try await inTurn(call) {
                try await coordinator.tasks(ids, into: TaskListing(of: keys)) { list, task in
                    try list.append(view(task))
                }
            }
        }
    }

    package func findTasks(
        _ query: TaskQuery,
        call: Call
    ) async throws(ManagerError) -> (page: TaskListing, total: UInt32) {
        try await named {
            var search = TaskSearch()
            if !query.states.isEmpty {
                search.states = Set(
                    query.states.compactMap { TaskState.Kind(rawValue: $0.rawValue) }
                )
            }
            if query.text != "" { search.text = query.text }
            search.order = query.sort.flatMap { .init(rawValue: $0.rawValue) } ?? .added
            search.isDescending = query.descending ?? false
            search.offset = Int(query.offset ?? 0)
            let limit = query.limit ?? 0
            search.limit = Int(limit == 0 ? Contract.pageOfTasks : limit)
            // Nor can a query be guessed by looking for it.
            let caller = await callers.caller(of: call)
            search.searchesURLs = !caller.isRestricted
            search.adder = query.addedBy.map { id in
                guard id == TaskQuery.me else { return .application(id) }
                return caller.owner.map { .owner($0) } ?? .application(caller.applicationID ?? "")
            }
            let view = await view(for: call)
            let (page, total) = try await inTurn(call) {
                try await coordinator.find(
                    search,
                    into: TaskListing(of: query.properties)
                ) { list, task in
                    try list.append(view(task))
                }
            }
            return (page, UInt32(clamping: total))
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
                case .text(let text): .text(text)
                case .number(let number): .number(number)
                case .flag(let flag): .flag(flag)
                }
            }
        )
    }
}
