// SPDX-License-Identifier: Apache-2.0

import DBus
import Synchronization
import iDownBus
import iDownTesting

/// A service of version 1 of the contract, whose list changes after it was read once.
final class ChangingList: Sendable {
    private struct Record: Sendable {
        var tasks: [TaskProperties]
        var change: (@Sendable (inout [TaskProperties]) -> Void)?
        /// How many tasks the last reading has shown: clients ask for several pages at once.
        var shown: Int?
        var asked: [String] = []
        let kept: Set<String>
        let lost: Set<String>
    }

    private let record: Mutex<Record>

    /// Creates a list of tasks that changes after it was first read.
    ///
    /// - Parameters:
    ///   - tasks: The tasks at first.
    ///   - kept: The IDs of the tasks whose files no trash accepts.
    ///   - lost: The IDs of the tasks that another program removes during the removal.
    ///   - change: Changes the list after it was first read.
    init(
        _ tasks: [TaskProperties],
        kept: Set<String> = [],
        lost: Set<String> = [],
        change: @escaping @Sendable (inout [TaskProperties]) -> Void
    ) {
        record = Mutex(Record(tasks: tasks, change: change, kept: kept, lost: lost))
    }

    /// The calls that changed a task, each with its ID.
    var asked: [String] { record.withLock { $0.asked } }

    /// Runs a command with this list on its bus, and returns its output and its end.
    func idown(_ arguments: String...) async throws -> ChildProcess.Completed {
        try await idown(arguments)
    }

    func idown(_ arguments: [String]) async throws -> ChildProcess.Completed {
        try await withPrivateBus { bus in
            let connection = try await Connection.open(.address(bus.address))
            do {
                try await connection.export([table], at: Contract.managerPath)
                _ = try await connection.requestName(Contract.busName)
                let program = try BuiltProgram("idown").path
                let environment = bus.environment
                let ended = try await within("idown \(arguments.first ?? "")") {
                    try await ChildProcess.run(program, arguments, environment: environment)
                }
                await connection.close()
                return ended
            } catch {
                await connection.close()
                throw error
            }
        }
    }

    private var table: Interface {
        typealias Name = Contract.Method
        return Interface(
            Contract.managerInterface,
            [
                .method(Name.listTasks, out: ["tasks"]) {
                    (_: Call) async throws -> [TaskProperties] in
                    self.look()
                },
                .method(Name.findTasks, in: ["query"], out: ["tasks", "total"]) {
                    (_: Call, query: [String: Value]) async throws -> ([TaskProperties], UInt32) in
                    self.page(from: try TaskQuery(query).offset ?? 0)
                },
                .method(Name.getTask, in: ["id"], out: ["task"]) {
                    (_: Call, id: String) async throws -> TaskProperties in
                    try self.task(id)
                },
                .method("Retry", in: ["id"]) { (_: Call, id: String) async throws in
                    try self.note("retry", [id])
                },
                .method(Name.setPriority, in: ["id", "priority"]) {
                    (_: Call, id: String, _: Int32) async throws in
                    try self.note("edit", [id])
                },
                .method(Name.setURL, in: ["id", "url"]) {
                    (_: Call, id: String, url: String) async throws in
                    try self.note("link", [id])
                },
                .method(Name.explain, in: ["id"], out: ["reasons"]) {
                    (_: Call, id: String) async throws -> [String] in
                    try self.note("explain", [id])
                    return ["why \(id)"]
                },
                .method(Name.removeTasks, in: ["ids", "options"], out: ["count"]) {
                    (_: Call, ids: [String], _: [String: Value]) async throws -> UInt32 in
                    try self.note("remove", ids)
                    return UInt32(self.remove(ids))
                },
            ]
        )
    }

    private func look() -> [TaskProperties] {
        record.withLock { record in
            let tasks = record.tasks
            record.change?(&record.tasks)
            record.change = nil
            return tasks
        }
    }

    private func page(from offset: UInt32) -> ([TaskProperties], UInt32) {
        let tasks = offset == 0 ? look() : []
        return record.withLock { record in
            if offset == 0 { record.shown = tasks.count }
            return (tasks, UInt32(record.shown ?? record.tasks.count))
        }
    }

    private func task(_ id: String) throws(BusError) -> TaskProperties {
        guard let task = record.withLock({ $0.tasks.first { $0.id == id } }) else {
            throw ManagerError(.noSuchTask, "there is no task \(id)").busError
        }
        return task
    }

    /// Removes tasks, and returns how many of them no other program removed.
    private func remove(_ ids: [String]) -> Int {
        record.withLock { record in
            let gone = Set(ids).subtracting(record.kept)
            record.tasks.removeAll { gone.contains($0.id) }
            return gone.subtracting(record.lost).count
        }
    }

    private func note(_ verb: String, _ ids: [String]) throws(BusError) {
        for id in ids { _ = try task(id) }
        record.withLock { $0.asked += ids.map { "\(verb) \($0)" } }
    }
}
