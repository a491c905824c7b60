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
                + adapter.properties,
            errors: handler.wording
        )
    }

    /// Returns the ObjectManager interface, which lists the tasks as objects.
    static func objectManager(for handler: any ManagerHandling) -> Interface {
        .objectManager(errors: handler.wording) { call in
            await handler.watchObjects(call)
            return TaskListing.Objects(try await handler.listTasks(call))
        }
    }
}

extension ManagerHandling {
    /// The error reply for what a method has thrown; the table's own errors are replies already.
    var wording: Interface.Wording {
        { error, _ in error as? BusError ?? named(error).busError }
    }
}

extension ManagerInterface {
    private typealias Name = Contract.Method

    private var adding: [Member] {
        [
            .method(Name.addURL, in: ["url"], answering: "id") {
                (call: Call, answer: @escaping Answer<String>, url: String) in
                handler.addURL(call, answer, url, AddOptions())
            },
            .method(Name.addURLWithOptions, in: ["url", "options"], answering: "id") {
                (
                    call: Call,
                    answer: @escaping Answer<String>,
                    url: String,
                    options: [String: Value]
                ) in
                handler.addURL(call, answer, url, try AddOptions(options))
            },
            // Without a task that waits: it would hold tens of megabytes until they are stored.
            .method(Name.addURLs, in: ["urls", "options"], answering: "ids") {
                (
                    call: Call,
                    answer: @escaping Answer<[String]>,
                    urls: [String],
                    options: [String: Value]
                ) in
                try addURLs(call, answer, urls, options)
            },
            .method(
                Name.addMany,
                in: ["tasks"],
                out: ["ids"],
                memory: Contract.addManyMemory
            ) {
                (call: Call, tasks: [[String: Value]]) in
                try await handler.addMany(call, try await NewDownload.all(in: tasks))
            },
            .method(Name.addMetalink, in: ["path", "options"], out: ["ids"]) {
                (call: Call, path: String, options: [String: Value]) in
                try await addMetalink(call, path, try AddOptions(options))
            },
        ]
    }

    private var asking: [Member] {
        [
            .method(Name.probe, in: ["url", "options"], out: ["file"]) {
                (call: Call, url: String, options: [String: Value]) in
                try await handler.probe(call, url, try AddOptions(options)).dictionary
            },
            .method(Name.handOver, in: ["url", "options"], answering: "id") {
                (
                    call: Call,
                    answer: @escaping Answer<String>,
                    url: String,
                    options: [String: Value]
                ) in
                handler.handOver(call, answer, url, try HandOverOptions(options))
            },
            .method(Name.confirm, in: ["token"], out: ["id"], handler.confirm),
            .method(Name.withdraw, in: ["token"], handler.withdraw),
        ]
    }

    private var verbs: [Member] {
        TaskMethod.allCases.map { method in
            .method(method.memberName, in: ["id"]) { (call: Call, id: String) in
                try await handler.carryOut(call, method, on: id)
            }
        } + [
            sweep(Name.startAll, .resume), sweep(Name.pauseAll, .pause),
            selection(Name.startTasks, .resume), selection(Name.pauseTasks, .pause),
            selection(Name.cancelTasks, .cancel),
            .method(Name.removeTasks, in: ["ids", "options"], out: ["count"]) {
                (call: Call, ids: [String], options: [String: Value]) in
                try await handler.removeTasks(call, ids, try RemoveOptions(options))
            },
            sweep(Name.clearCompleted, .remove),
            .method(Name.setURL, in: ["id", "url"], handler.setURL),
            .method(Name.setOptions, in: ["id", "options"]) {
                (call: Call, id: String, options: [String: Value]) in
                try await handler.setOptions(call, of: id, try EditOptions(options))
            },
            .method(Name.verify, .work, in: ["id"], out: ["integrity"], handler.verify),
            .method(Name.openFile, .query, in: ["id"], out: ["file"], handler.openFile),
        ]
    }

    private var listing: [Member] {
        [
            .method(Name.setPriority, in: ["id", "priority"], handler.setPriority),
            .method(
                Name.getTask,
                .query,
                in: ["id"],
                out: ["task"],
                now: { (call: Call, id: String) in
                    handler.taskNow(call, id, isObject: false).map { WireWriter($0) }
                },
                handler.getTask
            ),
            .method(Name.getTasks, .query, in: ["ids", "properties"], out: ["tasks"]) {
                (call: Call, ids: [String], properties: [String]) in
                try await handler.getTasks(call, ids, try TaskProperty.all(named: properties))
            },
            .method(Name.listTasks, .query, out: ["tasks"], handler.listTasks),
            .method(Name.findTasks, .query, in: ["query"], out: ["tasks", "total"]) {
                (call: Call, query: [String: Value]) -> (TaskListing, UInt32) in
                try await handler.findTasks(call, try TaskQuery(query))
            },
            .method(
                Name.getChangesSince,
                .query,
                in: ["serial", "options"],
                out: ["serial_now", "next", "tasks", "removed"]
            ) { (call: Call, serial: UInt64, options: [String: Value]) in
                let query = try ChangesQuery(options)
                let page = try await handler.changes(call, since: serial, query)
                return (page.serial, page.next, page.tasks, page.removed)
            },
            .method(Name.wait, .wait, in: ["id"], out: ["state"], handler.wait),
            .method(Name.explain, .query, in: ["id"], out: ["reasons"], handler.explain),
            .method(Name.explainCodes, .query, in: ["id"], out: ["reasons"], handler.explainCodes),
            .method(Name.getHistory, .query, in: ["id"], out: ["entries"], handler.history),
            .method(
                Name.getConnections,
                .query,
                in: ["id"],
                out: ["connections"],
                handler.connections
            ),
            .method(Name.subscribe, .change, handler.watchObjects),
            .method(Name.unsubscribe, .change, handler.unwatchObjects),
            .method(Name.quit, .change, handler.quit),
        ]
    }

    private static let signals: [Member] = [
        .signal(Contract.Signal.taskAdded), .signal(Contract.Signal.taskChanged),
        .signal(Contract.Signal.taskRemoved), .signal(Contract.Signal.tasksAdded),
        .signal(Contract.Signal.tasksChanged), .signal(Contract.Signal.tasksRemoved),
    ]

    // MARK: Rows of the same kind

    private func selection(_ name: MemberName, _ method: TaskMethod) -> Member {
        .method(name, in: ["ids"], out: ["count"]) { (call: Call, ids: [String]) in
            try await handler.carryOut(call, method, onEach: ids)
        }
    }

    private func sweep(_ name: MemberName, _ method: TaskMethod) -> Member {
        .method(name, out: ["count"]) { (call: Call) in
            try await handler.carryOutOnAll(call, method)
        }
    }

    // MARK: Rows that check what they are given

    private func addURLs(
        _ call: Call,
        _ answer: @escaping Answer<[String]>,
        _ urls: [String],
        _ options: [String: Value]
    ) throws {
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
        handler.addURLs(call, answer, urls, options)
    }

    private func addMetalink(
        _ call: Call,
        _ path: String,
        _ options: AddOptions
    ) async throws -> [String] {
        if let key = options.keysOfOneFile.first {
            throw ManagerError(
                .invalidOption,
                "\(key.rawValue) is for one file; a metalink says it of each of its files"
            )
        }
        return try await handler.addMetalink(call, path, options)
    }
}
