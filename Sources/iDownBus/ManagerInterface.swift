// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// The interface `org.idown.Manager1` as a table, from which dispatch and introspection come.
///
/// It has the same members in the same order as `dbus/org.idown.Manager1.xml`.
struct ManagerInterface: Sendable {
    let handler: any ManagerHandling

    /// Returns the table to export at ``Contract/managerPath``.
    static func table(for handler: any ManagerHandling) -> Interface {
        let adapter = ManagerInterface(handler: handler)
        return Interface(
            Contract.managerInterface,
            adapter.adding + adapter.asking + adapter.verbs + adapter.listing + signals
                + adapter.properties
        )
    }

    /// Returns the ObjectManager interface, which lists the tasks as objects.
    static func objectManager(for handler: any ManagerHandling) -> Interface {
        let adapter = ManagerInterface(handler: handler)
        return .objectManager { call in
            await handler.watchObjects(call: call)
            return try await adapter.answer { () throws(ManagerError) in
                TaskListing.Objects(try await handler.listTasks(call: call))
            }
        }
    }
}

extension ManagerInterface {
    private typealias Name = Contract.Method

    private var adding: [Member] {
        [
            .method(Name.addURL, in: ["url"], answering: "id") {
                (call: Call, answer: @escaping Answer<String>, url: String) in
                add(url, [:], call, answer)
            },
            .method(Name.addURLWithOptions, in: ["url", "options"], answering: "id") {
                (
                    call: Call,
                    answer: @escaping Answer<String>,
                    url: String,
                    options: [String: Value]
                ) in
                add(url, options, call, answer)
            },
            .method(Name.addURLs, in: ["urls", "options"], out: ["ids"]) {
                (call: Call, urls: [String], options: [String: Value]) async throws -> [String] in
                try await add(urls, options, call)
            },
            .method(Name.addMany, in: ["tasks"], out: ["ids"]) {
                (call: Call, tasks: [[String: Value]]) async throws -> [String] in
                try await answer { () throws(ManagerError) in
                    try await handler.addMany(try await NewDownload.all(in: tasks), call: call)
                }
            },
            .method(Name.addMetalink, in: ["path", "options"], out: ["ids"]) {
                (call: Call, path: String, options: [String: Value]) async throws -> [String] in
                try await answer { () throws(ManagerError) in
                    let options = try AddOptions(options)
                    if let key = options.keysOfOneFile.first {
                        throw ManagerError(
                            .invalidOption,
                            "\(key.rawValue) is for one file; a metalink says it of each of its files"
                        )
                    }
                    return try await handler.addMetalink(at: path, options: options, call: call)
                }
            },
        ]
    }

    private var asking: [Member] {
        [
            .method(Name.probe, in: ["url", "options"], out: ["file"]) {
                (call: Call, url: String, options: [String: Value]) async throws
                    -> [String: Value] in
                try await answer { () throws(ManagerError) in
                    try await handler.probe(url, options: try AddOptions(options), call: call)
                        .dictionary
                }
            },
            .method(Name.handOver, in: ["url", "options"], answering: "id") {
                (
                    call: Call,
                    answer: @escaping Answer<String>,
                    url: String,
                    options: [String: Value]
                ) in
                do throws(ManagerError) {
                    let options = try HandOverOptions(options)
                    handler.handOver(url, options: options, call: call) { result in
                        answer(result.mapError(\.busError))
                    }
                } catch {
                    answer(.failure(error.busError))
                }
            },
            .method(Name.confirm, in: ["token"], out: ["id"]) {
                (call: Call, token: String) async throws -> String in
                try await answer { () throws(ManagerError) in
                    try await handler.confirm(token, call: call)
                }
            },
            .method(Name.withdraw, in: ["token"]) { (call: Call, token: String) async throws in
                try await answer { () throws(ManagerError) in
                    try await handler.withdraw(token, call: call)
                }
            },
        ]
    }

    private var verbs: [Member] {
        TaskMethod.allCases.map { method in
            .method(method.memberName, in: ["id"]) { (call: Call, id: String) async throws in
                try await answer { () throws(ManagerError) in
                    try await handler.carryOut(method, on: TaskPath.id(meantBy: id), call: call)
                }
            }
        } + [
            sweep(Name.startAll, .resume), sweep(Name.pauseAll, .pause),
            selection(Name.startTasks, .resume), selection(Name.pauseTasks, .pause),
            selection(Name.cancelTasks, .cancel),
            .method(Name.removeTasks, in: ["ids", "options"], out: ["count"]) {
                (call: Call, ids: [String], options: [String: Value]) async throws -> UInt32 in
                try await answer { () throws(ManagerError) in
                    try await handler.removeTasks(
                        ids.map(TaskPath.id(meantBy:)),
                        options: try RemoveOptions(options),
                        call: call
                    )
                }
            },
            sweep(Name.clearCompleted, .remove),
            .method(Name.setURL, in: ["id", "url"]) {
                (call: Call, id: String, url: String) async throws in
                try await answer { () throws(ManagerError) in
                    try await handler.setURL(TaskPath.id(meantBy: id), to: url, call: call)
                }
            },
            .method(Name.setOptions, in: ["id", "options"]) {
                (call: Call, id: String, options: [String: Value]) async throws in
                try await answer { () throws(ManagerError) in
                    let id = TaskPath.id(meantBy: id)
                    let options = try EditOptions(options)
                    try await handler.setOptions(options, of: id, call: call)
                }
            },
            .method(Name.verify, in: ["id"], out: ["integrity"]) {
                (call: Call, id: String) async throws -> String in
                try await answer { () throws(ManagerError) in
                    try await handler.verify(TaskPath.id(meantBy: id), call: call)
                }
            },
            .method(Name.openFile, .query, in: ["id"], out: ["file"]) {
                (call: Call, id: String) async throws -> OpenDescriptor in
                try await answer { () throws(ManagerError) in
                    try await handler.openFile(TaskPath.id(meantBy: id), call: call)
                }
            },
        ]
    }

    private var listing: [Member] {
        [
            .method(Name.setPriority, in: ["id", "priority"]) {
                (call: Call, id: String, priority: Int32) async throws in
                try await answer { () throws(ManagerError) in
                    let id = TaskPath.id(meantBy: id)
                    try await handler.setPriority(priority, of: id, call: call)
                }
            },
            .method(Name.getTask, .query, in: ["id"], out: ["task"]) {
                (call: Call, id: String) async throws -> TaskProperties in
                try await answer { () throws(ManagerError) in
                    try await handler.getTask(TaskPath.id(meantBy: id), call: call)
                }
            },
            .method(Name.getTasks, .query, in: ["ids", "properties"], out: ["tasks"]) {
                (call: Call, ids: [String], properties: [String]) async throws -> TaskListing in
                try await answer { () throws(ManagerError) in
                    try await handler.getTasks(
                        ids.map(TaskPath.id(meantBy:)),
                        of: try TaskProperty.all(named: properties),
                        call: call
                    )
                }
            },
            .method(Name.listTasks, .query, out: ["tasks"]) {
                (call: Call) async throws -> TaskListing in
                try await answer { () throws(ManagerError) in
                    try await handler.listTasks(call: call)
                }
            },
            .method(Name.findTasks, .query, in: ["query"], out: ["tasks", "total"]) {
                (call: Call, query: [String: Value]) async throws -> (TaskListing, UInt32) in
                try await answer { () throws(ManagerError) in
                    try await handler.findTasks(try TaskQuery(query), call: call)
                }
            },
            .method(
                Name.getChangesSince,
                .query,
                in: ["serial", "options"],
                out: ["serial_now", "next", "tasks", "removed"]
            ) {
                (call: Call, serial: UInt64, options: [String: Value]) async throws
                    -> (UInt64, String, TaskListing, [String]) in
                try await answer { () throws(ManagerError) in
                    let query = try ChangesQuery(options)
                    let page = try await handler.changes(since: serial, query, call: call)
                    return (page.serial, page.next, page.tasks, page.removed)
                }
            },
            .method(Name.wait, .wait, in: ["id"], out: ["state"]) {
                (call: Call, id: String) async throws -> String in
                try await answer { () throws(ManagerError) in
                    try await handler.wait(for: TaskPath.id(meantBy: id), call: call)
                }
            },
            .method(Name.explain, .query, in: ["id"], out: ["reasons"]) {
                (call: Call, id: String) async throws -> [String] in
                try await answer { () throws(ManagerError) in
                    try await handler.explain(TaskPath.id(meantBy: id), call: call)
                }
            },
            .method(Name.explainCodes, .query, in: ["id"], out: ["reasons"]) {
                (call: Call, id: String) async throws -> [TaskReason] in
                try await answer { () throws(ManagerError) in
                    try await handler.explainCodes(TaskPath.id(meantBy: id), call: call)
                }
            },
            .method(Name.getHistory, .query, in: ["id"], out: ["entries"]) {
                (call: Call, id: String) async throws -> [HistoryEntry] in
                try await answer { () throws(ManagerError) in
                    try await handler.history(of: TaskPath.id(meantBy: id), call: call)
                }
            },
            .method(Name.getConnections, .query, in: ["id"], out: ["connections"]) {
                (call: Call, id: String) async throws -> [[String: Value]] in
                try await answer { () throws(ManagerError) in
                    try await handler.connections(of: TaskPath.id(meantBy: id), call: call)
                }
            },
            .method(Name.subscribe) { (call: Call) async throws in
                await handler.watchObjects(call: call)
            },
            .method(Name.unsubscribe) { (call: Call) async throws in
                await handler.unwatchObjects(call: call)
            },
            .method(Name.quit) { (call: Call) async throws in
                try await answer { () throws(ManagerError) in try await handler.quit(call: call) }
            },
        ]
    }

    private static let signals: [Member] = [
        .signal(Contract.Signal.taskAdded), .signal(Contract.Signal.taskChanged),
        .signal(Contract.Signal.taskRemoved), .signal(Contract.Signal.tasksAdded),
        .signal(Contract.Signal.tasksChanged), .signal(Contract.Signal.tasksRemoved),
    ]
}

// Rows of the same kind.
extension ManagerInterface {
    private func selection(_ name: MemberName, _ method: TaskMethod) -> Member {
        .method(name, in: ["ids"], out: ["count"]) {
            (call: Call, ids: [String]) async throws -> UInt32 in
            try await answer { () throws(ManagerError) in
                let ids = ids.map(TaskPath.id(meantBy:))
                return try await handler.carryOut(method, onEach: ids, call: call)
            }
        }
    }

    private func sweep(_ name: MemberName, _ method: TaskMethod) -> Member {
        .method(name, out: ["count"]) { (call: Call) async throws -> UInt32 in
            try await answer { () throws(ManagerError) in
                try await handler.carryOutOnAll(method, call: call)
            }
        }
    }

    private func add(
        _ url: String,
        _ options: [String: Value],
        _ call: Call,
        _ answer: @escaping Answer<String>
    ) {
        do throws(ManagerError) {
            handler.addURL(url, options: try AddOptions(options), call: call) { result in
                answer(result.mapError(\.busError))
            }
        } catch {
            answer(.failure(error.busError))
        }
    }

    private func add(
        _ urls: [String],
        _ options: [String: Value],
        _ call: Call
    ) async throws(BusError) -> [String] {
        try await answer { () throws(ManagerError) in
            guard urls.count <= Contract.maximumURLs else {
                throw ManagerError(
                    .limitExceeded,
                    "AddURLs takes at most \(Contract.maximumURLs) URLs, not \(urls.count)."
                )
            }
            let options = try AddOptions(options)
            if urls.count > 1, let key = options.keysOfOneFile.first {
                throw ManagerError(
                    .invalidOption,
                    "\(key.rawValue) may be given with one URL only, not with \(urls.count)."
                )
            }
            return try await handler.addURLs(urls, options: options, call: call)
        }
    }

    /// Runs a body, and turns its error into the error reply.
    func answer<Output: Sendable>(
        _ body: () async throws(ManagerError) -> Output
    ) async throws(BusError) -> Output {
        do throws(ManagerError) {
            return try await body()
        } catch {
            throw error.busError
        }
    }
}
