// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Synchronization
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// A service with a list in memory, behind the real table on a real bus.
final class FakeManager: ManagerHandling {
    /// What was asked, in the order of asking.
    private struct Record: Sendable {
        var asked: [String] = []
        var options: [AddOptions] = []
        var senders: [BusName?] = []
        var tasks: [TaskProperties] = []
        var settings: [Setting: Setting.Content] = [
            .downloadDirectory: .text("/home/me/Downloads")
        ]
        var isStopping = false
    }

    private let record = Mutex(Record())

    var asked: [String] { record.withLock { $0.asked } }

    var options: [AddOptions] { record.withLock { $0.options } }

    var senders: [BusName?] { record.withLock { $0.senders } }

    func show(_ tasks: [TaskProperties]) {
        record.withLock { $0.tasks = tasks }
    }

    /// From now on tells of no task, as a service that ends.
    func stop() {
        record.withLock { $0.isStopping = true }
    }

    /// Begins anew, with this list.
    func forget(showing tasks: [TaskProperties]) {
        record.withLock { record in
            record = Record()
            record.tasks = tasks
        }
    }

    private func note(_ text: String, _ call: Call) {
        record.withLock {
            $0.asked.append(text)
            $0.senders.append(call.sender)
        }
    }

    private func verb(_ text: String, _ id: String, _ call: Call) throws {
        let id = TaskPath.id(meantBy: id)
        note("\(text) \(id)", call)
        guard record.withLock({ $0.tasks.contains { $0.id == id } }) else {
            throw ManagerError(.noSuchTask, "there is no task \(id)")
        }
    }

    func addURL(
        _ call: Call,
        _ answer: @escaping Answer<String>,
        _ url: String,
        _ options: AddOptions
    ) {
        answer(.success(add(url, options, call)))
    }

    private func add(_ url: String, _ options: AddOptions, _ call: Call) -> String {
        note("add \(url)", call)
        return record.withLock { record in
            record.options.append(options)
            var task = TaskProperties.sample
            task.id = "\(record.tasks.count + 1)"
            task.url = url
            record.tasks.append(task)
            return task.id
        }
    }

    func addURLs(
        _ call: Call,
        _ answer: @escaping Answer<[String]>,
        _ urls: [String],
        _ options: AddOptions
    ) {
        answer(.success(urls.map { add($0, options, call) }))
    }

    func addMany(_ call: Call, _ downloads: [NewDownload]) -> [String] {
        downloads.map { add($0.url, $0.options, call) }
    }

    func getTasks(
        _ call: Call,
        _ ids: [String],
        _ properties: [TaskProperty]
    ) throws -> TaskListing {
        let ids = ids.map(TaskPath.id(meantBy:))
        note("get \(ids)", call)
        var list = TaskListing(of: properties)
        let tasks = record.withLock(\.tasks)
        for id in ids {
            if let task = tasks.first(where: { $0.id == id }) { try list.append(task) }
        }
        return list
    }

    func addMetalink(_ call: Call, _ path: String, _ options: AddOptions) -> [String] {
        [add("metalink \(path)", options, call)]
    }

    func probe(_ call: Call, _ url: String, _ options: AddOptions) throws -> ProbedFile {
        note("probe \(url)", call)
        if url.isEmpty { throw ManagerError(.requestFailed, "Server.NotFound: it is gone.") }
        return ProbedFile(name: "a.iso", size: nil, type: "", resumable: true, url: url)
    }

    func handOver(
        _ call: Call,
        _ answer: @escaping Answer<String>,
        _ url: String,
        _ options: HandOverOptions
    ) {
        answer(.success(add("hand over \(url)", options.download, call)))
    }

    func confirm(_ call: Call, _ token: String) -> String {
        note("confirm \(token)", call)
        return "1"
    }

    func withdraw(_ call: Call, _ token: String) {
        note("withdraw \(token)", call)
    }

    func open(_ call: Call, _ uris: [String]) throws {
        note("open \(uris)", call)
        if uris.contains("") { throw ManagerError(.invalidURL, "the URL is empty") }
    }

    func activate(_ call: Call, token: String) {
        note("activate \(token)", call)
    }

    func carryOut(_ call: Call, _ method: TaskMethod, on id: String) throws {
        let id = TaskPath.id(meantBy: id)
        try verb(method.rawValue.lowercased(), id, call)
        switch method {
        case .pause, .resume, .retry: break
        case .cancel: throw ManagerError(.invalidState, "task \(id) is completed")
        case .remove: record.withLock { $0.tasks.removeAll { $0.id == id } }
        }
    }

    func carryOut(_ call: Call, _ method: TaskMethod, onEach ids: [String]) -> UInt32 {
        note("\(method.rawValue.lowercased()) \(ids.map(TaskPath.id(meantBy:)))", call)
        return UInt32(ids.count)
    }

    func carryOutOnAll(_ call: Call, _ method: TaskMethod) -> UInt32 {
        note("\(method.rawValue.lowercased())-all", call)
        return switch method {
        case .resume: 1
        case .pause: 2
        case .remove: 3
        case .retry, .cancel: 0
        }
    }

    func removeTasks(_ call: Call, _ ids: [String], _ options: RemoveOptions) -> UInt32 {
        let ids = ids.map(TaskPath.id(meantBy:))
        note("remove \(ids) \(options.trashFiles ?? false)", call)
        return UInt32(ids.count)
    }

    func set(_ call: Call, _ property: TaskProperty, of id: String, to value: Value) throws {
        try verb("\(property.rawValue) \(value)", id, call)
    }

    func setPriority(_ call: Call, of id: String, to priority: Int32) throws {
        try verb("priority \(priority)", id, call)
    }

    func findTasks(_ call: Call, _ query: TaskQuery) throws -> (page: TaskListing, total: UInt32) {
        note("find \(query.text ?? "") \(query.states) \(query.limit ?? 0)", call)
        if query.text == "as before", !query.properties.isEmpty {
            throw ManagerError(.invalidOption, "there is no key “properties”")
        }
        let tasks = record.withLock(\.tasks)
        let limit = query.limit.flatMap { $0 == 0 ? nil : $0 } ?? Contract.pageOfTasks
        var page = TaskListing(of: query.properties)
        for task in tasks.dropFirst(Int(query.offset ?? 0)).prefix(Int(limit)) {
            try page.append(task)
        }
        return (page, UInt32(clamping: tasks.count))
    }

    func wait(_ call: Call, for id: String) throws -> String {
        try verb("wait", id, call)
        return id == "1" ? "completed" : "removed"
    }

    func explain(_ call: Call, _ id: String) throws -> [String] {
        try verb("explain", id, call)
        return ["paused by the user"]
    }

    func explainCodes(_ call: Call, _ id: String) -> [TaskReason] {
        note("explain codes \(id)", call)
        return [
            TaskReason("queue", ["running": .uint32(3), "slots": .uint32(3)]),
            TaskReason("space", ["missing": .uint64(1 << 40), "error": .string("File.NoSpace")]),
        ]
    }

    func history(_ call: Call, of id: String) throws -> [HistoryEntry] {
        try verb("history", id, call)
        let details: [String: Value] = [
            "host": .string("example.org"), "first": .int64(0), "cut": .boolean(true),
        ]
        return [HistoryEntry(time: 1_000_000, connection: 2, what: "asked", details: details)]
    }

    func connections(_ call: Call, of id: String) throws -> [[String: Value]] {
        try verb("connections", id, call)
        return [["host": .string("example.org")]]
    }

    let position: (list: String, serial: UInt64) = ("list", 7)

    func changes(
        _ call: Call,
        since serial: UInt64,
        _ query: ChangesQuery
    ) throws -> ChangesPage {
        note("changes \(serial)", call)
        var tasks = TaskListing(of: query.properties)
        var task = TaskProperties()
        (task.id, task.serial) = ("1", 7)
        try tasks.append(task)
        let isLast = query.next == "7.1"
        return ChangesPage(
            serial: 7,
            next: isLast ? "" : "7.1",
            tasks: tasks,
            removed: isLast ? ["2"] : []
        )
    }

    func watchObjects(_ call: Call) { note("watch", call) }

    func unwatchObjects(_ call: Call) { note("unwatch", call) }

    func setURL(_ call: Call, of id: String, to url: String) throws {
        try verb("set \(url)", id, call)
    }

    func setOptions(_ call: Call, of id: String, _ options: EditOptions) throws {
        try verb("edit \(options.dictionary.keys.sorted().joined(separator: " "))", id, call)
    }

    func verify(_ call: Call, _ id: String) throws -> String {
        try verb("verify", id, call)
        return "checksum"
    }

    func openFile(_ call: Call, of id: String) throws -> OpenDescriptor {
        try verb("open", id, call)
        return OpenDescriptor(owning: Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC))
    }

    func getTask(_ call: Call, _ id: String) throws -> TaskProperties {
        let id = TaskPath.id(meantBy: id)
        note("get \(id)", call)
        guard !record.withLock(\.isStopping) else {
            throw ManagerError(.stopping, "the service ends")
        }
        guard let task = record.withLock({ $0.tasks.first { $0.id == id } }) else {
            throw ManagerError(.noSuchTask, "there is no task \(id)")
        }
        return task
    }

    func listTasks(_ call: Call) throws -> TaskListing {
        var list = TaskListing()
        for task in record.withLock({ $0.tasks }) { try list.append(task) }
        return list
    }

    func hasTask(_ id: String) -> Bool {
        record.withLock { $0.tasks.contains { $0.id == id } }
    }

    func taskIDs() -> [String] {
        record.withLock { $0.tasks.map(\.id) }
    }

    func quit(_ call: Call) throws {
        note("quit", call)
        throw ManagerError(.stopping, "the service ends")
    }

    let version = "0.0-fake"

    func taskNow(_ call: Call, _ id: String, isObject: Bool) -> TaskProperties? { nil }

    func valueNow(of setting: Setting) -> Setting.Content? { nil }

    var countsNow: (all: UInt32, waiting: UInt32, active: UInt32)? { nil }

    func value(_ call: Call, of setting: Setting) -> Setting.Content {
        record.withLock { $0.settings[setting] ?? setting.usual }
    }

    func set(_ call: Call, _ setting: Setting, to content: Setting.Content) throws {
        guard content != .text("/refused") else {
            throw ManagerError(.invalidDestination, "the folder is refused")
        }
        record.withLock { $0.settings[setting] = content }
    }

    var counts: (all: UInt32, waiting: UInt32, active: UInt32) {
        record.withLock { (UInt32($0.tasks.count), 5, 6) }
    }

    let speed: UInt64 = 1 << 40

    func named(_ error: any Error) -> ManagerError {
        error as? ManagerError ?? ManagerError(.failed, "\(error)")
    }
}

/// What a test of the client and the table needs.
struct BusScene {
    let manager: FakeManager
    let service: Connection
    let client: ManagerClient
    let bus: PrivateBus
}

/// Runs `body` with a fake service on a bus of its own and a client of it.
func withFakeManager(_ body: (BusScene) async throws -> Void) async throws {
    try await withPrivateBus { bus in
        let service = try await Connection.open(.address(bus.address))
        let manager = FakeManager()
        try await service.export(manager)
        _ = try await service.requestName(Contract.busName)
        let client = try await ManagerClient.connect(to: .address(bus.address))
        let scene = BusScene(manager: manager, service: service, client: client, bus: bus)
        let outcome = await Result(catching: { try await body(scene) })
        await client.close()
        await service.close()
        try outcome.get()
    }
}

extension Result where Failure == any Error {
    fileprivate init(catching body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
