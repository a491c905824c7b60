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

    private func verb(_ text: String, _ id: String, _ call: Call) throws(ManagerError) {
        note("\(text) \(id)", call)
        guard record.withLock({ $0.tasks.contains { $0.id == id } }) else {
            throw ManagerError(.noSuchTask, "there is no task \(id)")
        }
    }

    func addURL(
        _ url: String,
        options: AddOptions,
        call: Call,
        answer: @escaping @Sendable (Result<String, ManagerError>) -> Void
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
        _ urls: [String],
        options: AddOptions,
        call: Call
    ) async throws(ManagerError) -> [String] {
        urls.map { add($0, options, call) }
    }

    func addMany(
        _ downloads: [NewDownload],
        call: Call
    ) async throws(ManagerError) -> [String] {
        downloads.map { add($0.url, $0.options, call) }
    }

    func getTasks(
        _ ids: [String],
        of properties: [TaskProperty],
        call: Call
    ) async throws(ManagerError) -> TaskListing {
        note("get \(ids)", call)
        var list = TaskListing(of: properties)
        let tasks = record.withLock(\.tasks)
        for id in ids {
            if let task = tasks.first(where: { $0.id == id }) { try list.append(task) }
        }
        return list
    }

    func addMetalink(
        at path: String,
        options: AddOptions,
        call: Call
    ) async throws(ManagerError) -> [String] {
        [add("metalink \(path)", options, call)]
    }

    func probe(
        _ url: String,
        options: AddOptions,
        call: Call
    ) async throws(ManagerError) -> ProbedFile {
        note("probe \(url)", call)
        if url.isEmpty { throw ManagerError(.requestFailed, "Server.NotFound: it is gone.") }
        return ProbedFile(name: "a.iso", size: nil, type: "", resumable: true, url: url)
    }

    func handOver(
        _ url: String,
        options: HandOverOptions,
        call: Call,
        answer: @escaping @Sendable (Result<String, ManagerError>) -> Void
    ) {
        answer(.success(add("hand over \(url)", options.download, call)))
    }

    func confirm(_ token: String, call: Call) async throws(ManagerError) -> String {
        note("confirm \(token)", call)
        return "1"
    }

    func withdraw(_ token: String, call: Call) async throws(ManagerError) {
        note("withdraw \(token)", call)
    }

    func open(_ uris: [String], call: Call) async throws(ManagerError) {
        note("open \(uris)", call)
        if uris.contains("") { throw ManagerError(.invalidURL, "the URL is empty") }
    }

    func activate(token: String, call: Call) async throws(ManagerError) {
        note("activate \(token)", call)
    }

    func carryOut(
        _ method: TaskMethod,
        on id: String,
        call: Call
    ) async throws(ManagerError) {
        try verb(method.rawValue.lowercased(), id, call)
        switch method {
        case .pause, .resume, .retry: break
        case .cancel: throw ManagerError(.invalidState, "task \(id) is completed")
        case .remove: record.withLock { $0.tasks.removeAll { $0.id == id } }
        }
    }

    func carryOut(
        _ method: TaskMethod,
        onEach ids: [String],
        call: Call
    ) async throws(ManagerError) -> UInt32 {
        note("\(method.rawValue.lowercased()) \(ids)", call)
        return UInt32(ids.count)
    }

    func carryOutOnAll(
        _ method: TaskMethod,
        call: Call
    ) async throws(ManagerError) -> UInt32 {
        note("\(method.rawValue.lowercased())-all", call)
        return switch method {
        case .resume: 1
        case .pause: 2
        case .remove: 3
        case .retry, .cancel: 0
        }
    }

    func removeTasks(
        _ ids: [String],
        options: RemoveOptions,
        call: Call
    ) async throws(ManagerError) -> UInt32 {
        note("remove \(ids) \(options.trashFiles ?? false)", call)
        return UInt32(ids.count)
    }

    func set(
        _ property: TaskProperty,
        of id: String,
        to value: Value,
        call: Call
    ) async throws(ManagerError) {
        try verb("\(property.rawValue) \(value)", id, call)
    }

    func setPriority(
        _ priority: Int32,
        of id: String,
        call: Call
    ) async throws(ManagerError) {
        try verb("priority \(priority)", id, call)
    }

    func findTasks(
        _ query: TaskQuery,
        call: Call
    ) async throws(ManagerError) -> (page: TaskListing, total: UInt32) {
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

    func wait(for id: String, call: Call) async throws(ManagerError) -> String {
        try verb("wait", id, call)
        return id == "1" ? "completed" : "removed"
    }

    func explain(_ id: String, call: Call) async throws(ManagerError) -> [String] {
        try verb("explain", id, call)
        return ["paused by the user"]
    }

    func explainCodes(_ id: String, call: Call) async throws(ManagerError) -> [TaskReason] {
        note("explain codes \(id)", call)
        return [
            TaskReason("queue", ["running": .count(3), "slots": .count(3)]),
            TaskReason("space", ["missing": .number(1 << 40), "error": .text("File.NoSpace")]),
        ]
    }

    func history(of id: String, call: Call) async throws(ManagerError) -> [HistoryEntry] {
        try verb("history", id, call)
        let details: [String: HistoryEntry.Detail] = [
            "host": .text("example.org"), "first": .number(0), "cut": .flag(true),
        ]
        return [HistoryEntry(time: 1_000_000, connection: 2, what: "asked", details: details)]
    }

    func connections(of id: String, call: Call) async throws(ManagerError) -> [[String: Value]] {
        try verb("connections", id, call)
        return [["host": .string("example.org")]]
    }

    var position: (list: String, serial: UInt64) {
        get async throws(ManagerError) { ("list", 7) }
    }

    func changes(
        since serial: UInt64,
        _ query: ChangesQuery,
        call: Call
    ) async throws(ManagerError) -> ChangesPage {
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

    func watchObjects(call: Call) async { note("watch", call) }

    func unwatchObjects(call: Call) async { note("unwatch", call) }

    func setURL(_ id: String, to url: String, call: Call) async throws(ManagerError) {
        try verb("set \(url)", id, call)
    }

    func setOptions(
        _ options: EditOptions,
        of id: String,
        call: Call
    ) async throws(ManagerError) {
        try verb("edit \(options.dictionary.keys.sorted().joined(separator: " "))", id, call)
    }

    func verify(_ id: String, call: Call) async throws(ManagerError) -> String {
        try verb("verify", id, call)
        return "checksum"
    }

    func openFile(_ id: String, call: Call) async throws(ManagerError) -> OpenDescriptor {
        try verb("open", id, call)
        return OpenDescriptor(owning: Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC))
    }

    func getTask(_ id: String, call: Call) async throws(ManagerError) -> TaskProperties {
        note("get \(id)", call)
        guard !record.withLock(\.isStopping) else {
            throw ManagerError(.stopping, "the service ends")
        }
        guard let task = record.withLock({ $0.tasks.first { $0.id == id } }) else {
            throw ManagerError(.noSuchTask, "there is no task \(id)")
        }
        return task
    }

    func listTasks(call: Call) async throws(ManagerError) -> TaskListing {
        var list = TaskListing()
        for task in record.withLock({ $0.tasks }) { try list.append(task) }
        return list
    }

    func hasTask(_ id: String) async throws(ManagerError) -> Bool {
        record.withLock { $0.tasks.contains { $0.id == id } }
    }

    func taskIDs() async throws(ManagerError) -> [String] {
        record.withLock { $0.tasks.map(\.id) }
    }

    func quit(call: Call) async throws(ManagerError) {
        note("quit", call)
        throw ManagerError(.stopping, "the service ends")
    }

    let version = "0.0-fake"

    func value(
        of setting: Setting,
        call: Call
    ) async throws(ManagerError) -> Setting.Content {
        record.withLock { $0.settings[setting] ?? setting.usual }
    }

    func set(
        _ setting: Setting,
        to content: Setting.Content,
        call: Call
    ) async throws(ManagerError) {
        guard content != .text("/refused") else {
            throw ManagerError(.invalidDestination, "the folder is refused")
        }
        record.withLock { $0.settings[setting] = content }
    }

    var counts: (all: UInt32, waiting: UInt32, active: UInt32) {
        get async throws(ManagerError) { record.withLock { (UInt32($0.tasks.count), 5, 6) } }
    }

    var speed: UInt64 { get async throws(ManagerError) { 1 << 40 } }
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
