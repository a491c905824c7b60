// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownData
import iDownSettings
import iDownState

/// The interface `org.idown.Manager1` as a table, which serves calls and introspection.
///
/// It has the same members in the same order as `dbus/org.idown.Manager1.xml`.
struct ManagerInterface: Sendable {
    let service: ManagerService

    /// Returns the table to export at ``Contract/managerPath``.
    static func table(for service: ManagerService) -> Interface {
        let adapter = ManagerInterface(service: service)
        return Interface(
            Contract.managerInterface,
            adapter.adding + adapter.asking + adapter.verbs + adapter.listing + signals
                + adapter.properties,
            errors: service.wording
        )
    }

    /// Returns the ObjectManager interface, which lists the tasks as objects.
    static func objectManager(for service: ManagerService) -> Interface {
        .objectManager(errors: service.wording) { call in
            await service.watchObjects(call)
            return TaskListing.Objects(try await service.listTasks(call))
        }
    }
}

extension ManagerInterface {
    private typealias Name = Contract.Method

    /// The most memory for the downloads of AddMany: 100,000 of them with six values each.
    private static let addManyMemory = 96 << 20

    private var adding: [Member] {
        [
            .method(Name.addURL, in: ["url"], answering: "id") {
                (call: Call, answer: @escaping Answer<String>, url: String) in
                try addURL(call, answer, url, [:])
            },
            .method(Name.addURLWithOptions, in: ["url", "options"], answering: "id", addURL),
            // No Swift task waits here: it would hold tens of megabytes until the URLs are stored.
            .method(Name.addURLs, in: ["urls", "options"], answering: "ids", addURLs),
            .method(Name.addMany, in: ["tasks"], out: ["ids"], memory: Self.addManyMemory) {
                (call: Call, tasks: [[String: Value]]) in
                try await service.addMany(call, try await NewDownload.all(in: tasks))
            },
            .method(Name.addMetalink, in: ["path", "options"], out: ["ids"]) {
                (call: Call, path: String, options: [String: Value]) in
                try await service.addMetalink(call, path, options)
            },
        ]
    }

    private var asking: [Member] {
        [
            .method(Name.probe, .query, in: ["url", "options"], out: ["file"]) {
                (call: Call, url: String, options: [String: Value]) in
                try await service.probe(call, url, try AddOptions(options)).dictionary
            },
            .method(Name.handOver, in: ["url", "options"], answering: "id", handOver),
            .method(Name.confirm, in: ["token"], out: ["id"], service.confirm),
            .method(Name.withdraw, in: ["token"], service.withdraw),
        ]
    }

    private var verbs: [Member] {
        TaskMethod.allCases.map { method in
            .method(method.memberName, in: ["id"]) { (call: Call, id: String) in
                try await service.carryOut(call, method, on: id)
            }
        } + [
            sweep(Name.startAll, .resume), sweep(Name.pauseAll, .pause),
            selection(Name.startTasks, .resume), selection(Name.pauseTasks, .pause),
            selection(Name.cancelTasks, .cancel),
            .method(Name.removeTasks, in: ["ids", "options"], out: ["count"]) {
                (call: Call, ids: [String], options: [String: Value]) in
                try await service.removeTasks(call, ids, try RemoveOptions(options))
            },
            sweep(Name.clearCompleted, .remove),
            .method(Name.setURL, in: ["id", "url"], service.setURL),
            .method(Name.setOptions, in: ["id", "options"]) {
                (call: Call, id: String, options: [String: Value]) in
                try await service.setOptions(call, of: id, try EditOptions(options))
            },
            .method(Name.verify, .work, in: ["id"], out: ["integrity"], service.verify),
            .method(Name.openFile, .query, in: ["id"], out: ["file"], service.openFile),
        ]
    }

    private var listing: [Member] {
        [
            .method(Name.setPriority, in: ["id", "priority"], service.setPriority),
            .method(
                Name.getTask,
                .query,
                in: ["id"],
                out: ["task"],
                now: { (call: Call, id: String) in
                    service.taskNow(call, id, isObject: false).map { WireWriter($0) }
                },
                service.getTask
            ),
            .method(Name.getTasks, .query, in: ["ids", "properties"], out: ["tasks"]) {
                (call: Call, ids: [String], properties: [String]) in
                try await service.getTasks(call, ids, try TaskProperty.all(named: properties))
            },
            .method(Name.listTasks, .query, out: ["tasks"], service.listTasks),
            .method(Name.findTasks, .query, in: ["query"], out: ["tasks", "total"]) {
                (call: Call, query: [String: Value]) -> (TaskListing, UInt32) in
                try await service.findTasks(call, try TaskQuery(query))
            },
            .method(
                Name.getChangesSince,
                .query,
                in: ["serial", "options"],
                out: ["serial_now", "next", "tasks", "removed"]
            ) {
                (call: Call, serial: UInt64, options: [String: Value])
                    -> (UInt64, String, TaskListing, [String]) in
                try await service.changes(call, since: serial, try ChangesQuery(options))
            },
            .method(Name.wait, .wait, in: ["id"], out: ["state"], service.wait),
            .method(Name.explain, .query, in: ["id"], out: ["reasons"], service.explain),
            .method(Name.explainCodes, .query, in: ["id"], out: ["reasons"], service.explainCodes),
            .method(Name.getHistory, .query, in: ["id"], out: ["entries"], service.history),
            .method(
                Name.getConnections,
                .query,
                in: ["id"],
                out: ["connections"],
                service.connections
            ),
            .method(Name.subscribe, .change, service.watchObjects),
            .method(Name.unsubscribe, .change, service.unwatchObjects),
            .method(Name.quit, .change, service.quit),
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
            try await service.carryOut(call, method, onEach: ids)
        }
    }

    private func sweep(_ name: MemberName, _ method: TaskMethod) -> Member {
        .method(name, out: ["count"]) { (call: Call) in
            try await service.carryOutOnAll(call, method)
        }
    }

    // MARK: Rows that check their arguments

    private func addURL(
        _ call: Call,
        _ answer: @escaping Answer<String>,
        _ url: String,
        _ options: [String: Value]
    ) throws {
        service.add(.urls([url], isList: false), try AddOptions(options), call) { result in
            answer(
                result.flatMap { ids in
                    ids.first.map { .success($0.description) }
                        ?? .failure(ManagerError(.failed, "No task was added. Please report this."))
                }
            )
        }
    }

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
        let decoded = try AddOptions(options)
        if urls.count > 1, let key = AddOptions.keyOfOneFile(in: options) {
            throw ManagerError(
                .invalidOption,
                "\(key) may be given with one URL only, not with \(urls.count)."
            )
        }
        service.add(.urls(urls, isList: true), decoded, call) { result in
            answer(result.map { $0.map(\.description) })
        }
    }

    private func handOver(
        _ call: Call,
        _ answer: @escaping Answer<String>,
        _ url: String,
        _ options: [String: Value]
    ) throws {
        let options = try HandOverOptions(options)
        service.begin { $0.handOverCalls.begin(url, options, call, answer, in: $0) }
    }
}

extension ManagerInterface {
    /// Returns the table of `org.idown.Settings1`: the settings that `org.idown.Manager1` lacks.
    static func settings(for service: ManagerService) -> Interface {
        let adapter = ManagerInterface(service: service)
        return Interface(
            Contract.settingsInterface,
            adapter.settings(of: .settings),
            errors: service.wording
        )
    }

    var properties: [Member] {
        [
            .property(Contract.Property.version, .constant, get: { _ in Contract.version }),
            .property(
                Contract.Property.capabilities,
                .constant,
                get: { _ in Capability.allCases.map(\.rawValue) }
            ),
        ] + settings(of: .manager) + [
            count(Contract.Property.taskCount) { $0.total },
            count(Contract.Property.waitingCount) { $0[.waiting] },
            count(Contract.Property.activeCount) { $0[.downloading] },
            .property(
                Contract.Property.serial,
                .never,
                get: { _ in UInt64(clamping: try await coordinator.position().serial) }
            ),
            .property(
                Contract.Property.listID,
                .constant,
                get: { _ in try await coordinator.position().list }
            ),
            .property(Contract.Property.speed, .never, get: { _ in await coordinator.speed }),
        ]
    }

    private func count(
        _ name: MemberName,
        _ count: @escaping @Sendable (TaskCounts) -> Int
    ) -> Member {
        .property(
            name,
            now: { _ in coordinator.store.recentCounts().map { UInt32(clamping: count($0)) } },
            get: { _ in UInt32(clamping: count(try await coordinator.counts())) }
        )
    }

    private var coordinator: Coordinator { service.coordinator }

    private func settings(of place: Setting.Place) -> [Member] {
        Setting.allCases.filter { $0.place == place }.map(property(of:))
    }

    private func property(of setting: Setting) -> Member {
        var setter: (@Sendable (Call, Value) async throws -> Void)?
        if !setting.isReadOnly { setter = { try await service.set($0, setting, to: $1) } }
        return .property(
            setting.memberName,
            type: setting.signature,
            setting.isPrivate ? .invalidates : .changes,
            now: { _ in service.valueNow(of: setting).map { WireWriter(setting.value($0)) } },
            get: { WireWriter(setting.value(try await service.value($0, of: setting))) },
            set: setter
        )
    }
}
