// SPDX-License-Identifier: Apache-2.0

import Curl
import DBus
import Glibc
import Logging
import iDownData
import iDownTesting
import iDownloader

@testable import iDownService
@testable import iDownState

/// A coordinator with all that is real around it: store, engine, folder, clock.
///
/// Only the bus is left out: what would go there is recorded.
struct Hub: Sendable {
    /// Where files go.
    let files: String
    let store: Store
    let engine: Engine
    let disk: DiskQueue
    let coordinator: Coordinator
    let announced: RecordingAnnouncer

    /// What a client could ask for.
    func wish(
        _ url: String,
        isPaused: Bool = false,
        priority: Int32? = nil,
        takenName: String? = nil,
        change: (inout TaskRequest) -> Void = { _ in }
    ) -> NewTask {
        var request = TaskRequest(url: url, directory: files)
        change(&request)
        return NewTask(
            request: request,
            priority: priority,
            isPaused: isPaused,
            takenName: takenName
        )
    }

    /// Adds one task.
    func add(
        _ url: String,
        isPaused: Bool = false,
        priority: Int32? = nil,
        token: String? = nil
    ) async throws -> TaskID {
        let wish = wish(url, isPaused: isPaused, priority: priority)
        let ids = try await coordinator.add([wish], token: token)
        guard ids.count == 1 else { throw WrongNumber(count: ids.count) }
        return ids[0]
    }

    struct WrongNumber: Error {
        let count: Int
    }

    /// What the store knows of a task.
    func record(_ id: TaskID) async throws -> TaskRecord? {
        try await store.read { snapshot in try snapshot.task(id) }
    }

    var records: [TaskRecord] {
        get async throws {
            try await store.read { snapshot in try snapshot.tasks() }
        }
    }

    /// The tasks that are downloading by the record.
    var downloading: [TaskID] {
        get async throws {
            try await records.filter { $0.state == .downloading }.map(\.id)
        }
    }

    /// Returns once the task's transfer holds nothing any more.
    func transferEnd(of id: TaskID) async {
        await coordinator.running[id]?.ended()
    }

    /// Returns once so many bytes of a running task have come.
    func arrival(of count: Int64, for id: TaskID) async throws {
        try await soon("\(count) bytes of task \(id)") {
            await (coordinator.running[id]?.live.bytes ?? 0) >= count
        }
    }

    // MARK: The folder

    func path(_ name: String) -> String { files + "/" + name }

    /// The names in the folder, in order.
    var names: [String] { TestFile.names(in: files) }

    /// Whether a file is exactly this content.
    func holds(_ content: TestContent, as name: String) -> Bool {
        (try? content.firstDifference(fromFile: path(name))) == .some(nil)
    }
}

extension Coordinator {
    /// The transfer of each task that has one.
    var running: [TaskID: RunningTransfer] { slots.running }

    /// Looks at the parts of the coordinator.
    func look<Value: Sendable>(_ body: @Sendable (isolated Coordinator) -> Value) -> Value {
        body(self)
    }

    /// Tells what the desktop's services say.
    func setConditions(isCaptive: Bool, isMetered: Bool, isBatteryLow: Bool) {
        var conditions = Conditions(isOnline: true)
        conditions.isCaptive = isCaptive
        conditions.isMetered = isMetered
        conditions.isBatteryLow = isBatteryLow
        setConditions(conditions)
    }

    /// Gives a task a fresh link.
    func setURL(of id: TaskID, to url: URLReference) async throws {
        var edit = TaskEdit()
        edit.url = url.text
        try await self.edit(id, edit)
    }

    /// Sets properties of a task.
    func set(_ id: TaskID, _ change: @Sendable (inout TaskEdit) -> Void) async throws {
        var edit = TaskEdit()
        change(&edit)
        try await set(edit, of: id)
    }
}

extension Logger {
    /// Says nothing.
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

extension WallTime {
    /// 2026-01-31 23:59:59 UTC.
    static let someTime = WallTime(microseconds: 1_769_903_999_000_000)
}

/// Runs `body` with a service without a bus, and ends it afterwards in the order of the daemon.
///
/// List and files are in `folder`, or in an empty one for the time. Without `begins` nothing
/// starts. `prepare` changes the store before the service sees it.
func withHub<Value>(
    in folder: String? = nil,
    slots: Int = 3,
    faults: CallFaults? = nil,
    fileFaults: FaultPlan? = nil,
    stateFaults: CallFaults? = nil,
    curlFaults: CallFaults? = nil,
    spaceInterval: Duration = Coordinator.spaceInterval,
    network: NetworkConfiguration = NetworkConfiguration(),
    time: TimeAndChance = .system,
    begins: Bool = true,
    prepare: (Store, _ files: String) async throws -> Void = { _, _ in },
    _ body: (Hub) async throws -> Value
) async throws -> Value {
    try await withGivenFolder(folder) { folder in
        let files = folder + "/files"
        mkdir(files, 0o700)
        let store = try Store.open(
            folder: folder + "/state",
            now: .someTime,
            commitFaults: faults?.strikes,
            fileFaults: stateFaults?.next
        ).store
        try await prepare(store, files)
        let pool: TransferPool
        do {
            pool = try TransferPool(faults: curlFaults?.strikes)
        } catch {
            try store.close()
            throw error
        }
        let disk = DiskQueue()
        let engine = Engine(
            drivers: TransferDrivers(pool),
            fileSystem: FileSystem(faults: fileFaults),
            disk: disk,
            network: network,
            userAgent: "idown-test/1",
            checkpointInterval: .seconds(3600),
            time: time
        )
        let coordinator = Coordinator(
            store: store,
            engine: engine,
            slots: slots,
            executor: try QueueExecutor(),
            spaceInterval: spaceInterval,
            log: .quiet
        )
        let announced = RecordingAnnouncer()
        let hub = Hub(
            files: files,
            store: store,
            engine: engine,
            disk: disk,
            coordinator: coordinator,
            announced: announced
        )
        let result: Result<Value, any Error>
        do {
            try await coordinator.restore()
            await coordinator.announce(to: announced)
            if begins { await coordinator.begin() }
            result = .success(try await body(hub))
        } catch {
            result = .failure(error)
        }
        await coordinator.stop()
        await pool.shutDown()
        try store.close()
        return try result.get()
    }
}

extension Coordinator {
    /// Adds all of them in one commit, or none, and returns an id for each.
    func add(_ wishes: [NewTask], token: String?) async throws -> [TaskID] {
        try await withCheckedThrowingContinuation { continuation in
            add(wishes, token: token) { continuation.resume(with: $0) }
        }
    }
}
